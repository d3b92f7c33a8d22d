// Users who come one after the other, up to 50 within 20 s, each of whom rests for 100 ms after every answer: the load that
// numbers of other shorteners are mostly from. k6 run -e EDGE=… -e LINKS=… -e USERS=… -e DURATION=… users.js
import { sleep } from 'k6';
import { options as withScenario, visit } from './links.js';

export const options = withScenario({
  executor: 'ramping-vus',
  startVUs: 1,
  stages: [{ duration: __ENV.DURATION || '20s', target: Number(__ENV.USERS || 50) }],
  gracefulRampDown: '1s',
});

export default function () {
  visit();
  sleep(0.1);
}
