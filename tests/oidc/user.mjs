// A user with a browser that shows nothing: goes to a page of the provider, logs in, agrees to all, and comes back.
//
// usage: node user.mjs PAGE

let url = new URL(process.argv[2]);
const provider = url.origin;
const cookies = new Map();
let form;

// Login, consent and a few redirects between them.
for (let steps = 0; steps < 20; steps += 1) {
  const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
  const answer = await fetch(url, { redirect: 'manual', headers, ...form });
  form = undefined;
  if (url.origin !== provider) {
    if (answer.status === 200) process.exit(0);
    throw new Error(`the way back ends with ${answer.status}`);
  }
  for (const cookie of answer.headers.getSetCookie()) {
    const [name, value] = cookie.split(';', 1)[0].split('=', 2);
    cookies.set(name, value);
  }
  const location = answer.headers.get('location');
  if (location) {
    url = new URL(location, url);
    continue;
  }
  const page = await answer.text();
  const action = page.match(/<form[^>]*action="([^"]+)"/)?.[1];
  const prompt = page.match(/name="prompt" value="([^"]+)"/)?.[1];
  if (answer.status !== 200 || !action || !prompt) throw new Error(`${answer.status}: ${page}`);
  url = new URL(action, url);
  form = { method: 'POST', body: new URLSearchParams({ prompt, login: 'alice', password: 'any' }) };
}
throw new Error('the pages have no end');
