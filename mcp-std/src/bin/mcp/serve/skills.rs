//! Skills that are in the program.

use mcp_std::ServerBuilder;
use mcp_std::skills::Skills;

const FILES: [(&str, &str); 5] = [
    (
        "trying-out/SKILL.md",
        "---\nname: trying-out\ndescription: Tries a client of the Model Context Protocol with this server\n---\n\n# Trying a \
         client out\n\nCall `echo` first. The other tools are in `references/tools.md`; `references/forms/` has what to fill \
         into forms.\n",
    ),
    (
        "trying-out/references/tools.md",
        "# Tools\n\n`add` adds two integers, `slow` takes its time, `fail` fails.\n",
    ),
    (
        "trying-out/references/forms/user.json",
        "{\"name\": \"Ada\"}\n",
    ),
    (
        "examples/greeting/references/words.md",
        "Hello, hi, good day.\n",
    ),
    (
        "examples/greeting/SKILL.md",
        "---\nname: greeting\ndescription: Greets people\nlicense: MIT\nmetadata:\n  version: \"1.0\"\n---\n\nCall \
         `greet` with the name.\n",
    ),
];

pub(super) fn add(builder: ServerBuilder) -> ServerBuilder {
    let skills = Skills::from_files(FILES).expect("a test checks them");
    builder.with_skills(skills)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_can_be_served() {
        let skills = Skills::from_files(FILES).expect("they follow the rules");
        assert_eq!(skills.skills().len(), 2);
    }
}
