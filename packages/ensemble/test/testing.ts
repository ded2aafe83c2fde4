/**
 * The parts of `@tutti/testing` that these tests use. By path, since that package builds on this one:
 * a dependency both ways would be a cycle that no build can order.
 */
export {
  fakeClock,
  scriptedModel,
  scriptedReviewer,
  type FakeClock,
  type ScriptedReply,
  type ScriptEntry,
} from '../../testing/src/index.ts'
