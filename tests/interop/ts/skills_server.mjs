// Skills served by the official TypeScript SDK 2.x, for our client.
// usage: node skills_server.mjs
import { McpServer } from '@modelcontextprotocol/server';
import { SkillsExtension, memorySkillFiles } from '@modelcontextprotocol/server/ext/skills';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const files = memorySkillFiles({
  'tea/SKILL.md': '---\nname: tea\ndescription: Makes tea\nmetadata:\n  version: "1.0"\n---\n\nBoil the water first.\n',
  'tea/references/leaves.md': '# Leaves\n\nGrün, 緑茶\n',
  'tea/assets/dot.bin': new Uint8Array([0, 255, 128, 10]),
});
const skills = await SkillsExtension.load(files);

serveStdio(() => {
  const server = new McpServer({ name: 'interop-skills', version: '1.0.0' }, { capabilities: {} });
  skills.attach(server);
  return server;
});
