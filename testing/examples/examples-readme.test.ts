// The code of the README, run as it stands there against a real server: programs by themselves, the element
// and the hooks in a page. Its shell lines, and what needs no kit, are run by docs.test.ts.
import { expect, test } from 'bun:test'
import { bundle, describeWithBrowser } from '../browser/fixtures/app-pages.ts'
import { connect } from '../clients/client.ts'
import { startServer } from '../clients/server.ts'
import { blocksOf } from '../docs/docs-text.ts'
import { fromHere, inFolder } from '../docs/snippet-program.ts'
import { SECRET, SERVER_KEY, securedSettings } from '../http/tokens.ts'

const snippets = (language: string): string[] => blocksOf('README.md', language).map(({ text }) => text)

test('[X3] the README has one program for a client and one for a backend, a page and hooks', () => {
  expect(['ts', 'html', 'tsx'].map((language) => snippets(language).length)).toEqual([2, 1, 1])
})

test('[X3] README.md: the client watches, and sets its own status', async () => {
  const server = await startServer()
  const bob = await connect(server.url, 'bob')
  bob.send({ type: 'watch', user_ids: ['alice'] })
  await inFolder('client.ts', fromHere(snippets('ts')[0]!, server), async (path) => {
    const child = Bun.spawn([process.execPath, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    await bob.sees('alice', ({ custom_status }) => custom_status?.text === 'In a meeting')
    let said = ''
    for await (const chunk of child.stdout) {
      said += new TextDecoder().decode(chunk)
      if (said.split('\n').length > 3) break
    }
    child.kill()
    expect(said.trim().split('\n').sort()).toEqual([
      '0 of your contacts are known',
      'bob online',
      'carol offline',
    ])
  })
  bob.close()
  await server.stop()
})

test('[X3, C6] README.md: the backend mints a valid token, and stores contacts', async () => {
  const server = await startServer(securedSettings)
  const known = { url: server.url, serverKey: SERVER_KEY, jwtSecret: SECRET }
  const program = [
    `const { ${Object.keys(known)} } = ${JSON.stringify(known)}`,
    snippets('ts')[1]!,
    "console.log(JSON.stringify({ token, contacts: await backend.contacts.list('alice') }))",
  ]
  await inFolder('backend.ts', program.join('\n'), async (path) => {
    const child = Bun.spawn([process.execPath, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    const { token, contacts } = JSON.parse(await new Response(child.stdout).text())
    expect([await child.exited, contacts]).toEqual([0, ['bob', 'carol']])
    const alice = await connect(server.url, '', { token })
    expect(alice.welcome.user_id).toBe('alice')
    alice.close()
  })
  await server.stop()
})

describeWithBrowser('README.md in a browser', (browser) => {
  test('[X3] the element shows bob', async () => {
    const server = await browser.serve()
    const bob = await connect(server.url, 'bob')
    const content = fromHere(snippets('html')[0]!, server)
    const page = `<!doctype html><html lang="en"><title>Bob</title>${content}<script type="module" src="page.js"></script></html>`
    const script = await bundle('packages/client/src/element.ts')
    const window = await browser.window()
    await window.page.goto(`${browser.publish(server, { 'page.html': page, 'page.js': script })}/page.html`)
    const dot = window.page.locator('green-dot')
    await dot.getByText(/online/).waitFor()
    bob.send({ type: 'set_availability', status: 'busy' })
    await dot.getByText(/busy/).waitFor()
    expect(await dot.getByText(/Bob/).count()).toBe(1)
    bob.close()
  })

  test('[X3] the hooks show bob', async () => {
    const server = await browser.serve()
    const bob = await connect(server.url, 'bob')
    const program = [
      "import { createRoot } from 'react-dom/client'",
      fromHere(snippets('tsx')[0]!, server),
      "createRoot(document.getElementById('root')!).render(<App />)",
    ]
    await inFolder('page.tsx', program.join('\n'), async (path) => {
      const page =
        '<!doctype html><html lang="en"><title>Bob</title><div id="root"></div><script type="module" src="page.js"></script></html>'
      const window = await browser.window()
      const site = browser.publish(server, { 'page.html': page, 'page.js': await bundle(path) })
      await window.page.goto(`${site}/page.html`)
      await window.page.getByText('bob is online').waitFor()
      bob.send({ type: 'set_availability', status: 'busy' })
      await window.page.getByText('bob is busy').waitFor()
    })
    bob.close()
  })
})
