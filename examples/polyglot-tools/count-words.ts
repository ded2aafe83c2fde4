/** A tool in Node that stays: a program of its own that answers call after call, a line each. */
import { createInterface } from 'node:readline'

let calls = 0
for await (const line of createInterface({ input: process.stdin })) {
  // NOTE: the tool has checked the input by its schema before it is sent.
  const { id, input } = JSON.parse(line) as { id: string; input: { text: string } }
  calls += 1
  const words = input.text.split(/\s+/).filter(Boolean).length
  process.stdout.write(`${JSON.stringify({ id, output: { words, calls } })}\n`)
}
