// Parses server-sent events as the HTML standard defines them, but only their data; names and ids are not
// used here. Accepts text in pieces of any size.

export interface EventReader {
  take(text: string): void
}

export function createEventReader(onData: (data: string) => void): EventReader {
  let rest = ''
  let data: string[] = []

  function line(text: string): void {
    if (text === '') {
      if (data.length > 0) onData(data.join('\n'))
      data = []
    } else if (text.startsWith('data:')) data.push(text.slice(5).replace(/^ /, ''))
  }

  return {
    take(text) {
      rest += text
      // A line break may be two characters, and the second may be in the next piece.
      const lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop()!
      lines.forEach(line)
    },
  }
}
