/** Formats the parts of the reference pages. */

const NOTE = '<!-- Written by "npm run gen" from the code; do not edit. -->'

/** Formats a page with its title. */
export function page(title: string, lines: readonly string[]): string {
  return [NOTE, '', `# ${title}`, '', ...lines, ''].join('\n')
}

/** Formats a table. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  return [row(heads), row(heads.map(() => '---')), ...rows.map(row)]
}

/** Formats text as inline code. A bar is escaped, because it would end the cell. */
export function code(text: string): string {
  return `\`${text}\``
}

const END = '<!-- End of the written part. -->'

/**
 * Returns a page with other lines in the section that is written from `source`, a path.
 *
 * @throws {Error} when the page has no section for it.
 */
export function replaceSection(text: string, source: string, lines: readonly string[]): string {
  const begin = `<!-- Written by "npm run gen" from ${source}; do not edit. -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(END, from)
  if (from === -1 || to === -1)
    throw new Error(`The page has no section for ${source}, between ${begin} and ${END}`)
  return (
    text.slice(0, from) + [begin, '', ...lines, '', END].join('\n') + text.slice(to + END.length)
  )
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
