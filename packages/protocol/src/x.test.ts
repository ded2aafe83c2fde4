import Type from 'typebox'
import { it } from 'vitest'
import { decode } from './decode.ts'
import { describeProblems } from './problems/describe-problems.ts'
it('x', () => {
  const Node = Type.Cyclic({ Node: Type.Object({ next: Type.Union([Type.Ref('Node'), Type.Null()]), n: Type.Integer() }) }, 'Node')
  const list = (k: number, n: unknown) => { let v: unknown = null; for (let i = 0; i < k; i++) v = { next: v, n: i ? 1 : n }; return v }
  for (const k of [10, 50, 60, 100, 500, 1000, 1900, 3000, 10000]) {
    const d = decode(Node, list(k, 1)); const b = decode(Node, list(k, 'x'))
    let r = ''; try { r = describeProblems(Node, list(k, 'x')).map((p) => p.message).join() } catch (e) { r = String(e) }
    console.log(k, d.ok, JSON.stringify(b).slice(-130), r)
  }
})
