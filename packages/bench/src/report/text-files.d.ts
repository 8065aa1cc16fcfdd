// Files imported as text, with { type: 'text' }.
declare module '*.min.css' {
  const text: string
  export default text
}
declare module '*.css' {
  const text: string
  export default text
}
declare module '*.iife.min.js' {
  const text: string
  export default text
}
declare module '*.client.js' {
  const text: string
  export default text
}
