// `npm run test:next`: builds a Next.js app with the packed packages, and looks at what it rendered. It is no part of
// `npm test`: installing and building take more than a minute.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openWorkshop } from './workshop.ts'

const PACKAGES = [
  'next@16.4.6',
  'react@19.3.1',
  'react-dom@19.3.1',
  '@types/react@19.3.0',
  'typescript@5.9.3',
]
const TYPES = ['@types/node@20.19.33']
const RENDERED = ['<p>online,away,busy,offline</p>', '<p>bob is <!-- -->unknown</p>', 'data-kit="function"']

const workshop = await openWorkshop()
try {
  const { client, protocol } = workshop.tarballs
  const fixtures = join(import.meta.dir, 'next')
  const app = await workshop.install('app', [client, protocol, ...PACKAGES, ...TYPES], { fixtures })
  console.log(await workshop.run(app, 'npx', 'next', 'build'))
  const html = readFileSync(join(app, '.next/server/app/index.html'), 'utf8')
  const missing = RENDERED.filter((part) => !html.includes(part))
  if (missing.length > 0) throw new Error(`the page lacks ${missing.join(' and ')}`)
  console.log('Next.js builds and renders the packages')
} finally {
  workshop.remove()
}
