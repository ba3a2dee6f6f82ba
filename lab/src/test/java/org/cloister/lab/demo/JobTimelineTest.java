package org.cloister.lab.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JobTimelineTest {
    private static final String PHASES =
            "v=1 features=- ticket=efom2lnk attempt=1 queue=1.500 boot=20.000 evidence=0.500"
                    + " keys=1.000 tunnel=5.000 registration=4.000 teardown=3.000";

    @Test
    void phases_follow_each_other_then_the_job_and_its_end() {
        JobTimeline timeline = JobTimeline.of(PHASES, 40, 50);
        assertThat(timeline.bars().stream().map(JobTimeline.Bar::name))
                .containsExactly(
                        "queue", "boot", "evidence", "keys", "tunnel", "registration", "start", "the job", "teardown");
        assertThat(timeline.bars())
                .contains(new JobTimeline.Bar("start", 32, 8), new JobTimeline.Bar("the job", 40, 10));
        assertThat(timeline.durationSeconds()).isEqualTo(53);
        assertThat(timeline.lines()).hasSize(9).allMatch(line -> line.contains("#"));
    }

    @Test
    void whole_seconds_of_slurms_never_go_back() {
        JobTimeline timeline = JobTimeline.of(PHASES, 31, 31);
        assertThat(timeline.bars()).allMatch(bar -> bar.seconds() >= 0);
        assertThat(timeline.durationSeconds()).isEqualTo(35);
    }
}
