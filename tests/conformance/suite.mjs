// Runs the legs of the suite and judges what it wrote.
//
// usage: node suite.mjs SERVER_URL CLIENT RESULTS [LEG...]

import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [url, client, results, ...wanted] = process.argv.slice(2);
const legs = wanted.length ? wanted : ['server', 'client'];

const suite = join(
  dirname(fileURLToPath(import.meta.url)),
  'node_modules/@modelcontextprotocol/conformance/dist/index.js',
);
// The sets of requirements that the suite has.
const revisions = ['2025-11-25', '2026-07-28'];
// For `--suite all`: scenarios say themselves since when they hold, and only a few hold for the older ones.
const everything = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

// Features that we do not have yet: their scenarios are not judged, but counted and named.
const notYet = {
  server: {},
  client: {},
};

// Scenarios that the suite has and always skips: what they are about has a test of ours.
const alwaysSkipped = {
  'tasks-status-notifications': 'mcp-std/tests/serve/tasks.rs',
};

// Scenarios in no set of requirements, by themselves.
const extras = {
  server: ['sep-2640-skills-enumeration', 'sep-2640-skills-manifest', 'sep-2640-skills-directory'],
  client: [
    'sep-2640-client-no-prefetch',
    'sep-2640-client-verify-digest',
    'sep-2640-client-verify-size',
    'sep-2640-client-verify-frontmatter',
  ],
};

// Checks that may be skipped, by their scenario and what they say.
const maySkip = [
  {
    scenario: 'http-standard-headers',
    says: /did not send a (initialize|notifications\/initialized) request/,
    reason: '2026-07-28 has neither of these methods',
  },
];

// Where a scenario also passes if what it is about never happens: the check that says that it did.
const mustSucceed = {
  'server-sse-polling': 'server-sse-disconnect-resume',
  'sse-retry': 'client-sse-retry-timing',
};

// What changes the server for everyone while it runs, so that nothing else can run beside it.
const alone = new Set(['server-stateless']);

// Milliseconds: the suite gives a scenario 30 seconds.
const scenarioLimit = 60_000;
const legLimit = 300_000;

const deviations = [];
const deviates = (where, what) => {
  deviations.push(`${where}: ${what}`);
  console.log(`not ok ${where}: ${what}`);
};

/** Runs the suite with these arguments. */
function run(args, limit, environment = {}) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [suite, ...args], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    const late = setTimeout(() => child.kill('SIGKILL'), limit);
    child.on('close', (code) => {
      clearTimeout(late);
      done({ code, output });
    });
  });
}

/** The scenarios of a revision: `{server: {scored, unscored}, client: {scored, unscored}}`, lists of names. */
async function requirements(revision) {
  const { code, output } = await run(['list', '--requirements', revision], scenarioLimit);
  const sets = { server: { scored: [], unscored: [] }, client: { scored: [], unscored: [] } };
  let role;
  for (const line of output.split('\n')) {
    role = /^(Server|Client) scenarios/.exec(line)?.[1].toLowerCase() ?? role;
    const [, name, tag] = /^ +- (\S+)(?: \[(server|client)\])?$/.exec(line) ?? [];
    if (name) sets[tag ?? role][tag ? 'unscored' : 'scored'].push(name);
  }
  const empty = Object.values(sets).some((set) => !set.scored.length || !set.unscored.length);
  if (code !== 0 || empty) throw new Error(`requirements of ${revision}:\n${output}`);
  return sets;
}

/** What the suite wrote below a folder: the checks of each scenario by its name, and what its client said. */
function written(folder) {
  const found = new Map();
  if (!existsSync(folder)) return found;
  for (const path of readdirSync(folder, { recursive: true })) {
    const [, name] = /^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z\/checks\.json$/.exec(path) ?? [];
    if (!name) continue;
    const said = join(folder, dirname(path), 'stderr.txt');
    found.set(name, {
      checks: JSON.parse(readFileSync(join(folder, path), 'utf8')),
      stderr: existsSync(said) ? readFileSync(said, 'utf8').trim() : '',
    });
  }
  return found;
}

/** Whether these checks are as good as they have to be. Says which are not. */
function judge(where, name, { checks, stderr } = { checks: [], stderr: '' }) {
  const before = deviations.length;
  if (alwaysSkipped[name]) {
    // Should it do something one day, it is to be judged.
    const did = checks.filter(({ status }) => status !== 'SKIPPED');
    if (!checks.length || did.length) deviates(`${where}, ${name}`, 'it is no longer skipped');
    return deviations.length === before;
  }
  for (const { id, status, errorMessage = '' } of checks) {
    const allowed = maySkip.some(
      (skip) => skip.scenario === name && skip.says.test(errorMessage),
    );
    if (status === 'SUCCESS' || status === 'INFO' || (status === 'SKIPPED' && allowed)) continue;
    deviates(`${where}, ${name}`, `${status} ${id} ${errorMessage}`);
  }
  const succeeded = checks.filter(({ status }) => status === 'SUCCESS');
  if (!succeeded.length) deviates(`${where}, ${name}`, 'no check has succeeded');
  const must = mustSucceed[name];
  if (must && !succeeded.some(({ id }) => id === must)) {
    deviates(`${where}, ${name}`, `no SUCCESS ${must}`);
  }
  const good = deviations.length === before;
  if (!good && stderr) console.log(`  ${stderr.replaceAll('\n', '\n  ')}`);
  return good;
}

/** As many at a time as there are processors. */
async function inParallel(jobs) {
  const left = [...jobs];
  const workers = Array.from({ length: availableParallelism() }, async () => {
    for (let job; (job = left.shift()); ) await job.run();
  });
  await Promise.all(workers);
}

// The table, and the scenarios that are still to be run by themselves.
const rows = [];
const singles = [];
const later = new Map();

/** What of these names is to be judged; the rest is noted as not run yet. */
function now(role, names) {
  return names.filter((name) => {
    const [feature] = Object.entries(notYet[role]).find(([, names]) => names.test(name)) ?? [];
    if (feature) {
      const noted = later.get(`${role}, ${feature}`) ?? new Set();
      later.set(`${role}, ${feature}`, noted.add(name));
    }
    return !feature;
  });
}

const target = (role) => (role === 'server' ? ['--url', url] : ['--command', client]);

/** A set of requirements, as the suite runs it. */
async function leg(role, revision, label = '', environment = {}) {
  const where = `${role} ${revision}${label}`;
  const folder = join(results, where.replaceAll(/\W+/g, '-'));
  const row = { leg: where };
  rows.push(row);
  const sets = (await requirements(revision))[role];

  const all = join(folder, 'all');
  mkdirSync(all, { recursive: true });
  const { code, output } = await run(
    [role, ...target(role), '--requirements', revision, '-o', all],
    legLimit,
    environment,
  );
  const found = written(all);
  for (const kind of ['scored', 'unscored']) {
    const names = now(role, sets[kind]);
    const good = names.filter((name) => judge(where, name, found.get(name)));
    row[kind] = `${good.length}/${names.length}`;
    row[`${kind} later`] = sets[kind].length - names.length;
  }
  // The suite's own verdict is about what is scored: it is worth something where we have all of that.
  if (!row['scored later'] && code !== 0) deviates(where, `exit code ${code}\n${output}`);

  let good = 0;
  const names = now(role, [...sets.scored, ...sets.unscored]);
  row.strict = `0/${names.length}`;
  for (const name of names) {
    singles.push({
      name,
      run: async () => {
        const own = join(folder, 'strict', name.replaceAll('/', '-'));
        mkdirSync(own, { recursive: true });
        const { code, output } = await run(
          [role, ...target(role), '--scenario', name, '--spec-version', revision, '--force', '-o', own],
          scenarioLimit,
          environment,
        );
        const strictly = `${where}, strict`;
        const fine = judge(strictly, name, written(own).get(name));
        if (code !== 0) deviates(`${strictly}, ${name}`, `exit code ${code}\n${output}`);
        if (fine && code === 0) good += 1;
        row.strict = `${good}/${names.length}`;
      },
    });
  }
}

/** Every scenario that the suite has for a revision, in any set or none. */
async function suiteAll(revision) {
  const where = `server ${revision}, all`;
  const folder = join(results, `server-${revision}-suite`);
  mkdirSync(folder, { recursive: true });
  const { output } = await run(
    ['server', '--url', url, '--suite', 'all', '--spec-version', revision, '-o', folder],
    legLimit,
  );
  const found = written(folder);
  const names = now('server', [...found.keys()]);
  if (!names.length) deviates(where, `nothing was run\n${output}`);
  const good = names.filter((name) => judge(where, name, found.get(name)));
  rows.push({ leg: where, all: `${good.length}/${names.length}` });
}

/** Scenarios that no set of requirements has, one by one. */
function extra(role) {
  const revision = '2026-07-28';
  const names = extras[role];
  const row = { leg: `${role} ${revision}, extensions`, strict: `0/${names.length}` };
  rows.push(row);
  let good = 0;
  for (const name of names) {
    singles.push({
      name,
      run: async () => {
        const own = join(results, `${role}-${revision}-extensions`, name);
        mkdirSync(own, { recursive: true });
        const { code, output } = await run(
          [role, ...target(role), '--scenario', name, '--spec-version', revision, '--force', '-o', own],
          scenarioLimit,
        );
        const fine = judge(row.leg, name, written(own).get(name));
        if (code !== 0) deviates(`${row.leg}, ${name}`, `exit code ${code}\n${output}`);
        if (fine && code === 0) good += 1;
        row.strict = `${good}/${names.length}`;
      },
    });
  }
}

/** What only the oldest revision that has authorization wants, one by one: it is in no set. */
function oldAuthorization() {
  const revision = '2025-03-26';
  const names = ['auth/2025-03-26-oauth-metadata-backcompat', 'auth/2025-03-26-oauth-endpoint-fallback'];
  const row = { leg: `client ${revision}`, strict: `0/${names.length}` };
  rows.push(row);
  let good = 0;
  for (const name of names) {
    singles.push({
      name,
      run: async () => {
        const own = join(results, `client-${revision}`, name.replaceAll('/', '-'));
        mkdirSync(own, { recursive: true });
        const { code, output } = await run(
          ['client', '--command', client, '--scenario', name, '--spec-version', revision, '-o', own],
          scenarioLimit,
        );
        const fine = judge(row.leg, name, written(own).get(name));
        if (code !== 0) deviates(`${row.leg}, ${name}`, `exit code ${code}\n${output}`);
        if (fine && code === 0) good += 1;
        row.strict = `${good}/${names.length}`;
      },
    });
  }
}

for (const role of legs) {
  if (!(role in notYet)) throw new Error(`no leg ${role}: there are ${Object.keys(notYet)}`);
}
if (legs.includes('server')) {
  // Both eras at once: neither may notice the other.
  await Promise.all(revisions.map((revision) => leg('server', revision)));
  for (const revision of everything) await suiteAll(revision);
  extra('server');
}
if (legs.includes('client')) {
  for (const revision of revisions) {
    await leg('client', revision);
    // Once more with a client that finds out for itself what the server speaks.
    await leg('client', revision, ', found out', { CONFORMANCE_REVISION: 'auto' });
  }
  oldAuthorization();
  extra('client');
}
await inParallel(singles.filter(({ name }) => !alone.has(name)));
for (const { name, run } of singles) if (alone.has(name)) await run();

const columns = ['leg', 'scored', 'unscored', 'strict', 'all'];
const cell = (row, column) => {
  const noted = row[`${column} later`];
  return `${row[column] ?? ''}${noted ? ` (+${noted} not run yet)` : ''}`;
};
const table = [columns, ...rows.map((row) => columns.map((column) => cell(row, column)))];
const widths = columns.map((_, at) => Math.max(...table.map((line) => line[at].length)));
console.log();
for (const line of table) {
  console.log(line.map((text, at) => text.padEnd(widths[at])).join('  ').trimEnd());
}
console.log();
for (const [what, names] of later) console.log(`not run yet (${what}): ${[...names].join(' ')}`);
for (const [name, test] of Object.entries(alwaysSkipped)) console.log(`always skipped: ${name}: see ${test}`);
for (const { scenario, reason } of maySkip) console.log(`may be skipped: ${scenario}: ${reason}`);
console.log(deviations.length ? `${deviations.length} deviations` : 'no deviation');
process.exitCode = deviations.length ? 1 : 0;
