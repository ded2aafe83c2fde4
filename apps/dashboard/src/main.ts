/** Starts the dashboard: requests the events of its page, and meanwhile loads the rest of its scripts. */
import { requestEarly } from './api/early-request.ts'

requestEarly()
void import('./app/start.tsx')
