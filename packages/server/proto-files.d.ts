// Protocol files imported as text, with { type: 'text' }.
declare module '*.proto' {
  const text: string
  export default text
}
