import { decode, ERROR_CODES, routePath, SubmitRunBody } from '../src/index.ts'

const body: unknown = JSON.parse('{ "inputs": { "topic": 42 }, "task": [] }')
const decoded = decode(SubmitRunBody, body)

if (decoded.ok) {
  const topic: string | undefined = decoded.value.inputs?.['topic']
  console.log(`Submitting to ${routePath('submitRun')}: ${topic}`)
} else {
  console.log(`HTTP ${ERROR_CODES.BAD_REQUEST.status}`)
  for (const problem of decoded.problems) console.log(`${problem.path} ${problem.message}`)
}
// HTTP 400
// /inputs/topic must be a string, got 42
// /task is not a known field; did you mean "tasks"?
