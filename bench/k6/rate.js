// Visits at a constant rate, whether or not the answers keep up: k6 run -e EDGE=… -e LINKS=… -e RATE=… -e DURATION=… rate.js
// Those that k6 has no user for are dropped_iterations; where there are any, the rate was not held.
import { options as withScenario, visit } from './links.js';

const rate = Number(__ENV.RATE || 1000); // visits a second

export const options = withScenario({
  executor: 'constant-arrival-rate',
  rate,
  timeUnit: '1s',
  duration: __ENV.DURATION || '10s',
  preAllocatedVUs: Math.max(10, Math.ceil(rate / 20)), // enough for answers of 50 ms
  maxVUs: Math.max(20, Math.ceil(rate / 2)),
});

export default visit;
