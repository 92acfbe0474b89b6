//! Skills of a server of another make: `tests/interop/ts/skills_server.mjs`.

use mcp_std::client::Client;
use mcp_std::skills::{SkillError, SkillFault, SkillFiles};

use crate::{Report, holds, refused, same};

const TEA: &str = "skill://tea/SKILL.md";

pub(crate) async fn run(report: &mut Report, client: &Client) {
    report
        .check("skills/list", async {
            let skills = client.list_skills().await?;
            let uris: Vec<_> = skills.iter().map(|skill| &*skill.uri).collect();
            same(uris, [TEA])
        })
        .await;
    report
        .check("skills/get: what the list says", async {
            let listed = client.list_skills().await?;
            let skill = client.get_skill(TEA).await?;
            same(Some(&skill), listed.first())
        })
        .await;
    report
        .check("SKILL.md and all files, verified", async {
            let skill = client.get_skill(TEA).await?;
            let held = client.load_skill(&skill).await?;
            holds(
                held.instructions().ends_with("Boil the water first.\n"),
                held.instructions(),
            )?;
            let leaves = held.read("references/leaves.md").await?;
            same(leaves, "# Leaves\n\nGrün, 緑茶\n".as_bytes().to_vec())?;
            same(held.read("assets/dot.bin").await?, [0, 255, 128, 10])
        })
        .await;
    report
        .check("a file that is not what was said is refused", async {
            let mut skill = client.get_skill(TEA).await?;
            let SkillFiles::Listed(files) = &mut skill.resources else {
                return Err("its files are listed".into());
            };
            for file in files.iter_mut().filter(|it| it.uri.ends_with(".bin")) {
                file.digest = format!("sha256:{}", "0".repeat(64));
            }
            let held = client.load_skill(&skill).await?;
            let read = held.read("assets/dot.bin").await;
            holds(matches!(read, Err(SkillError::Fault(_))), &read)?;
            let read = held.read("assets/other.bin").await;
            let unlisted = matches!(read, Err(SkillError::Fault(SkillFault::Unlisted)));
            holds(unlisted, read)
        })
        .await;
    report
        .check("no such skill", async {
            match client.get_skill("skill://coffee/SKILL.md").await {
                Err(SkillError::Call(error)) => refused::<()>(Err(error), &[-32602, -32002]),
                other => holds(false, other),
            }
        })
        .await;
}
