// The hooks, in a component that Next.js renders on the server and again in the browser.
'use client'
import { GreendotProvider, usePresence } from '@greendot/client/react'

function Bob() {
  return <p>bob is {usePresence('bob')?.status ?? 'unknown'}</p>
}

export default function People() {
  return (
    <GreendotProvider url="http://127.0.0.1:4400" token="dev:alice">
      <Bob />
    </GreendotProvider>
  )
}
