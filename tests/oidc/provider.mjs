// An OpenID provider on this machine, for tests only: anybody who says a name is logged in, and nothing is kept.
//
// usage: node provider.mjs PORT RESOURCE OTHER LIFE
//   RESOURCE and OTHER are what tokens can be for; LIFE is that of access tokens in seconds.
//
// Each thing that it does is a line on standard output.

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { Provider } from 'oidc-provider';

const [port, resource, other, life] = process.argv.slice(2);
const issuer = `http://localhost:${port}`;

function key(alg, type, options) {
  const { privateKey } = generateKeyPairSync(type, options);
  return { ...privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: randomUUID() };
}

const provider = new Provider(issuer, {
  jwks: { keys: [key('ES256', 'ec', { namedCurve: 'P-256' }), key('RS256', 'rsa', { modulusLength: 2048 })] },
  cookies: { keys: [randomUUID()] },
  clients: [
    {
      client_id: 'machine',
      client_secret: 'of-the-machine',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
  ],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, indicator) => {
        // To the letter.
        if (indicator !== resource && indicator !== other) throw new Error(`no such resource: ${indicator}`);
        return {
          scope: 'mcp:read mcp:write',
          audience: indicator,
          accessTokenFormat: 'jwt',
          accessTokenTTL: Number(life),
          jwt: { sign: { alg: 'ES256' } },
        };
      },
    },
  },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  pkce: { required: () => true },
});

const say = (...words) => console.log(words.join(' '));
provider.on('registration_create.success', (_, client) => say('registered', client.applicationType));
provider.on('authorization.success', (ctx) => say('authorized', ctx.oidc.params.scope));
provider.on('grant.success', (ctx) => say('grant', ctx.oidc.params.grant_type));
provider.on('grant.error', (ctx, error) => say('refused', ctx.oidc.params?.grant_type, error.error, error.error_detail));
provider.on('refresh_token.consumed', () => say('rotated'));
provider.on('grant.revoked', () => say('revoked'));
provider.on('server_error', (_, error) => say('broken', error.stack));

provider.listen(Number(port), 'localhost', () => say('ready'));
