import { createLimiter, createToolMetrics, defineTool, runTool, Type } from '../src/index.ts'

import type { Reviewer } from '../src/index.ts'

// Two tools of one bank, which allows one call at a time and ten a second.
const bank = createLimiter({ maxConcurrent: 1, maxPerInterval: 10 })

const balance = defineTool({
  name: 'balance',
  description: 'Returns the balance',
  input: Type.Object({}),
  limiter: bank,
  execute: () => '120 EUR',
})

const transfer = defineTool({
  name: 'transfer',
  description: 'Sends money',
  input: Type.Object({ to: Type.String(), euros: Type.Integer({ minimum: 1 }) }),
  limiter: bank,
  idempotent: false,
  requireApproval: { describe: ({ to, euros }) => `Send ${euros} EUR to ${to}?` },
  execute({ to, euros }, { reportProgress, metrics, idempotencyKey }) {
    reportProgress('Asking the bank')
    metrics.record('euros', euros)
    return `Sent ${euros} EUR to ${to} as ${idempotencyKey}`
  },
})

// The reviewer can be a person, a rule or a test.
const reviewer: Reviewer = {
  decide({ description, input }) {
    console.log(description)
    const edited = { ...Object(input), euros: 50 }
    return Promise.resolve({ action: 'EDIT', input: edited })
  },
}

const metrics = createToolMetrics()
const options = { reviewer, metrics, agentRole: 'Treasurer' }
await runTool(balance, { id: 'call-1', name: 'balance', arguments: '{}' }, options)
const call = { id: 'call-2', name: 'transfer', arguments: '{"to":"Ada","euros":500}' }
const { result } = await runTool(transfer, call, options)
console.log(result.output)
for (const { toolName, success, values } of metrics.snapshot()) {
  console.log(`${toolName}: ${success} good, ${values.euros?.sum ?? 0} EUR`)
}
// Send 500 EUR to Ada?
// Sent 50 EUR to Ada as call-2
// balance: 1 good, 0 EUR
// transfer: 1 good, 50 EUR
