/**
 * Measures one typed tool call: JSON text of five fields is parsed, validated, executed and counted.
 *
 * The same body, input and process for all. The AI SDK does not have a public function that makes one tool call
 * like its agents: it is measured as the slope of `generateText` over the number of tool calls in one step, and, as
 * a cheaper variant, as its public parts combined by hand.
 */
import { createToolMetrics, runTool } from '@tutti/core'

import { compare, type Contestant } from './lib/measure.ts'
import { orderTool } from './lib/order-tool.ts'
import { hasPeers } from './lib/form.ts'
import { importPeer } from './lib/peers.ts'
import { formatNumber, printTable } from './lib/report.ts'
import { ARGUMENTS, TOOL } from './lib/story.ts'

const peers = hasPeers()
  ? [...(await importPeer('langgraph')).tools(), ...(await importPeer('ai-sdk')).tools()]
  : []
const results = await compare([await tuttiCalls(), ...peers], { calls: 5_000, rounds: 15 })
const own = results[0]?.us ?? Number.NaN
printTable({
  title: 'One typed tool call',
  columns: ['', 'µs a call', 'times'],
  rows: results.map(({ name, us }) => [name, formatNumber(us), formatNumber(us / own)]),
})

async function tuttiCalls(): Promise<Contestant> {
  const options = {
    metrics: createToolMetrics(),
    signal: new AbortController().signal,
    agentRole: 'Buyer',
  }
  return {
    name: 'tutti runTool',
    async run(count) {
      for (let index = 0; index < count; index += 1) {
        const call = { id: 'call', name: TOOL.name, arguments: ARGUMENTS }
        const { result } = await runTool(orderTool, call, options)
        if (!result.success) throw new Error(result.errorMessage)
      }
    },
  }
}
