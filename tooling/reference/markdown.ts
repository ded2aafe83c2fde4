/** Pieces of the reference pages. */

const NOTE = '<!-- Written by "npm run gen" from the code; do not edit. -->'

/** A page with its title. */
export function page(title: string, lines: readonly string[]): string {
  return [NOTE, '', `# ${title}`, '', ...lines, ''].join('\n')
}

/** A table. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  return [row(heads), row(heads.map(() => '---')), ...rows.map(row)]
}

/** Text in the type of code; a bar in it would end its cell. */
export function code(text: string): string {
  return `\`${text}\``
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
