// Renders the hooks on a server. They know nothing there, and open nothing.
import { GreendotProvider, usePresence } from '@greendot/client/react'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

const Bob = () => createElement('p', null, 'bob is ', usePresence('bob')?.status ?? 'unknown')
const url = 'http://127.0.0.1:9'
console.log(renderToString(createElement(GreendotProvider, { url, token: 'dev:alice' }, createElement(Bob))))
