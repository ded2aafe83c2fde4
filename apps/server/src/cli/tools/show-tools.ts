/** What `tutti tools` does. */
import { connectTo, type TargetOptions } from '../target.ts'
import { printJson, printLines, say } from '../text/print.ts'
import { tableLines } from '../text/table.ts'
import { schemaText } from './schema-text.ts'

import type { CommandContext } from '../command-context.ts'

const COLUMNS = [{ title: 'TOOL' }, { title: 'INPUT' }, { title: 'WHAT IT DOES' }]

/** Lists the tools. */
export async function showTools(
  options: TargetOptions & { readonly json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { io } = context
  const tools = await connectTo(options, context).tools.list()
  if (options.json === true) {
    printJson(tools, io)
  } else if (tools.length === 0) {
    say('This server has no tools. They are named in "tools" of its config file', io)
  } else {
    const rows = tools.map(({ name, description, inputSchema = {} }) => [
      { text: name, style: 'bold' as const },
      { text: schemaText(inputSchema) },
      { text: description },
    ])
    printLines(tableLines(COLUMNS, rows), io)
  }
}
