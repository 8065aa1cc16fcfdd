// Hides the user of this window from one viewer, by the deny list of the privacy settings. Uses dev tokens.

const ADDRESS = '/api/v1/presence/settings'
const headersOf = (name: string) => ({ authorization: `Bearer dev:${name}` })

async function denied(name: string): Promise<string[]> {
  const answer = await fetch(ADDRESS, { headers: headersOf(name) })
  return answer.ok ? (await answer.json()).deny : []
}

export const isHiddenFrom = async (name: string, viewer: string): Promise<boolean> =>
  (await denied(name)).includes(viewer)

export async function setHiddenFrom(name: string, viewer: string, isHidden: boolean): Promise<void> {
  const others = (await denied(name)).filter((id) => id !== viewer)
  const body = JSON.stringify({ deny: isHidden ? [...others, viewer] : others })
  await fetch(ADDRESS, { method: 'PUT', headers: headersOf(name), body })
}
