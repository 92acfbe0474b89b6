// The skills module of the official TypeScript SDK 2.x, as a host: what it reads, it has verified.
// usage: node skills.mjs REVISION COMMAND [ARGUMENT...]
//        node skills.mjs REVISION URL
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SKILLS_EXTENSION_ID, SkillVerificationError, SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { check, patience, watched } from './suite.mjs';

const [revision, ...command] = process.argv.slice(2);
const modern = revision === '2026-07-28';
const { transport } = watched(command, StdioClientTransport, StreamableHTTPClientTransport);
const client = new Client(
  { name: 'interop-skills', version: '1.0.0' },
  {
    versionNegotiation: { mode: modern ? { pin: revision } : 'legacy' },
    supportedProtocolVersions: [revision],
    capabilities: { extensions: { [SKILLS_EXTENSION_ID]: {} } },
  },
);
const skills = new SkillsClient(client);
let entry;

await check(`connect, ${revision}`, async () => {
  await client.connect(transport(), patience);
  assert.equal(client.getNegotiatedProtocolVersion(), revision);
});

await check('skills are declared', () => {
  assert.ok(skills.supported);
  assert.ok(skills.directoryRead);
});

await check('skills/list: each entry is valid', async () => {
  const { skills: all, invalid } = await skills.list({}, patience);
  assert.deepEqual(invalid, []);
  const names = all.map(skill => skill.frontmatter.name).sort();
  assert.deepEqual(names, ['greeting', 'trying-out']);
  entry = all.find(skill => skill.frontmatter.name === 'trying-out');
});

await check('skills/get: what the list says', async () => {
  const { skill, ttlMs, cacheScope } = await skills.get(entry.uri, patience);
  assert.deepEqual(skill, entry);
  if (!modern) return;
  assert.ok(Number.isInteger(ttlMs) && ttlMs >= 0, `${ttlMs}`);
  assert.match(cacheScope, /^(public|private)$/);
});

await check('SKILL.md and all files: verified', async () => {
  const manifest = await skills.read(entry, undefined, patience);
  assert.ok(manifest.verified);
  assert.equal(manifest.frontmatter.name, 'trying-out');
  assert.match(manifest.body, /Trying a client out/);
  const tools = await skills.read(entry, 'references/tools.md', patience);
  assert.ok(tools.verified);
  assert.match(tools.text, /^# Tools/);
  assert.ok(entry.resources.length >= 3, JSON.stringify(entry.resources));
  for (const { uri } of entry.resources) assert.ok((await skills.read(entry, uri, patience)).verified, uri);
});

await check('a file that is not what was said is refused', async () => {
  const changed = structuredClone(entry);
  const listed = changed.resources.find(({ uri }) => uri.endsWith('tools.md'));
  listed.digest = `sha256:${'0'.repeat(64)}`;
  await assert.rejects(skills.read(changed, 'references/tools.md', patience), SkillVerificationError);
});

await check('resources/directory/read', async () => {
  const root = entry.uri.replace(/\/SKILL\.md$/, '');
  const { resources } = await skills.readDirectory(root, patience);
  const names = resources.map(({ uri }) => uri.slice(root.length + 1)).sort();
  assert.deepEqual(names, ['SKILL.md', 'references']);
});

await check('no such skill', () =>
  assert.rejects(skills.get('skill://nobody/SKILL.md', patience), error => error.code === -32602 || error.code === -32002));

await client.close();
