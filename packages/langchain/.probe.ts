import { langchainModel } from './src/index.ts'
import { anthropicStub, openaiStub } from './src/testing/index.ts'
const request = { messages: [{ role: 'user' as const, content: 'hi' }], tools: [], toolChoice: 'auto' as const }
async function run(label: string, model: any, signal = new AbortController().signal) {
  const out: string[] = []
  try { for await (const c of model.stream(request, { signal })) out.push(c.type === 'text' ? c.text : JSON.stringify(c.reply)) ; console.log(label, 'OK', out.join('|')) }
  catch (e: any) { console.log(label, '\n   ', e?.code, e?.message, e?.retryable, JSON.stringify(e?.details), '| cause:', e?.cause?.constructor?.name) }
}
process.on('unhandledRejection', (e) => console.log('UNHANDLED', e))
for (const [p, stubber] of [['openai:gpt-4o', openaiStub], ['anthropic:claude-sonnet-4-5', anthropicStub]] as const) {
  for (const a of [{status:400},{status:401,message:'Incorrect API key provided: sk-abcdefghijkl.'},{status:404},{status:429, headers:{'retry-after':'3'}},{status:429, code:'insufficient_quota', type: 'insufficient_quota'},{status:500},{status:529},{status:502, body:'<html>bad gateway</html>'},{status:400, message:'tools.0: bad tool_calls'},{status:400,message:'prompt is too long: context_length_exceeded'},{text:'one two three', ending:'drop'},{text:'one two three', ending:'truncate'},{text:'one two three', ending:'error'},{text:'x', reasoning:'let me think', usage:{inputTokens:5,outputTokens:9}}, {toolCalls:[{name:'f', arguments:'{"a": 1, "b'}]}, {toolCalls:[{name:'f', arguments:''}]}] as any) {
    await using stub = await stubber([a])
    await run(p + ' ' + JSON.stringify(a), langchainModel(p, { apiKey: 'my-secret', baseUrl: stub.baseUrl, maxRetries: 0 }))
  }
  await run(p + ' refused', langchainModel(p, { apiKey: 'k', baseUrl: 'http://127.0.0.1:9/v1', maxRetries: 0 }))
  await run(p + ' nokey', langchainModel(p, { baseUrl: 'http://127.0.0.1:9/v1', maxRetries: 0 }))
  { await using stub = await stubber(['env works'])
    process.env.OPENAI_BASE_URL = stub.baseUrl; process.env.ANTHROPIC_BASE_URL = stub.baseUrl
    await run(p + ' env', langchainModel(p, { apiKey: 'k', maxRetries: 0 })) }
}
await run('groq', langchainModel('groq:llama', { apiKey: 'k' }))
await run('nope', langchainModel('nope:llama', { apiKey: 'k' }))
await run('bedrock', langchainModel('bedrock:llama'))
await run('google', langchainModel('google-genai:llama'))
{ await using stub = await openaiStub(['azure says hi'])
  await run('azure', langchainModel('azure_openai:gpt-4o', { apiKey: 'k', maxRetries: 0, modelOptions: { azureOpenAIApiDeploymentName: 'dep', azureOpenAIApiVersion: '2024-10-21', azureOpenAIBasePath: new URL(stub.baseUrl).origin + '/openai/deployments' } }))
  console.log(stub.requests.map(r => r.path)) }
for (const stubber of [openaiStub, anthropicStub]) {
  await using stub = await stubber([{ text: 'one two three', ending: 'hang' }])
  const c = new AbortController()
  const m = langchainModel(stubber === openaiStub ? 'openai:gpt-4o' : 'anthropic:claude-x', { apiKey: 'k', baseUrl: stub.baseUrl })
  const t = performance.now()
  try { for await (const x of m.stream(request, { signal: c.signal })) { console.log(x); if (x.type==='text' && x.text.includes('three')) setTimeout(() => c.abort(), 10) } } catch (e) { console.log('aborted with', (e as Error).name, (performance.now()-t).toFixed()) }
  console.log(await stub.requests[0]!.ended)
  await using stub2 = await stubber([{ text: 'one two three', ending: 'hang' }])
  for await (const _ of langchainModel(stubber === openaiStub ? 'openai:gpt-4o' : 'anthropic:claude-x', { apiKey: 'k', baseUrl: stub2.baseUrl }).stream(request, { signal: new AbortController().signal })) break
  console.log('after break', await stub2.requests[0]!.ended)
}
