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

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
