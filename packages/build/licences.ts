// The licences of the packages that are bundled into a program. They ask that their text goes with every copy. A
// package that is not MIT licensed and has no such text stops the build.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const LICENCE = /^(licen[cs]e|copying)(\.(md|txt|mit))?$/i

/** One text for all packages that the files belong to. */
export function licencesOf(files: readonly string[]): string {
  const homes = new Set(files.filter((file) => file.includes('/node_modules/')).map(homeOf))
  const parts = Array.from(homes, (home) => {
    const { name, version, license } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
    const file = readdirSync(home).find((entry) => LICENCE.test(entry))
    if (file === undefined && license !== 'MIT')
      throw new Error(`${name} has no text of its licence, ${license}`)
    const text = file === undefined ? `Licence: ${license}` : readFileSync(join(home, file), 'utf8').trim()
    return `${name} ${version}\n\n${text}\n`
  })
  return `The program contains these packages.\n\n${parts.sort().join(`\n${'-'.repeat(78)}\n\n`)}`
}

/** The nearest folder above with the package.json of a named package. */
function homeOf(file: string): string {
  let folder = dirname(file)
  while (!isPackage(folder)) folder = dirname(folder)
  return folder
}

function isPackage(folder: string): boolean {
  const manifest = join(folder, 'package.json')
  return existsSync(manifest) && 'name' in JSON.parse(readFileSync(manifest, 'utf8'))
}
