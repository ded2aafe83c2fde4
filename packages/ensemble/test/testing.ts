/**
 * The parts of `@tutti/testing` that these tests use. Imported by path because that package depends on this
 * one, and a dependency in both directions would be a cycle.
 */
export {
  fakeClock,
  scriptedModel,
  scriptedReviewer,
  type FakeClock,
  type ScriptedReply,
} from '../../testing/src/index.ts'
export type { ScriptEntry } from '../../testing/src/internal.ts'
