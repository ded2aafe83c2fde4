/** A tool in Node that is started once: it reads calls and writes results, one per line. */
import { createInterface } from 'node:readline'

let calls = 0
for await (const line of createInterface({ input: process.stdin })) {
  // NOTE: the tool has validated the input with its schema.
  const { id, input } = JSON.parse(line) as { id: string; input: { text: string } }
  calls += 1
  const words = input.text.split(/\s+/).filter(Boolean).length
  process.stdout.write(`${JSON.stringify({ id, output: { words, calls } })}\n`)
}
