package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Poll;
import org.cloister.lab.host.AgentHostFiles;
import org.cloister.lab.site.SiteHosts;

/**
 * End of a VM that was asked to power off, by its agent-host's log.
 *
 * @param took until nothing was left of it
 * @param cutOff whether it still ran when its time was over
 */
record VmShutdownResult(Duration took, boolean cutOff) {
    private static final String REMOVED = "VM %s removed ([0-9]+) ms after its end, reason: ASKED";

    /** When it has. */
    static VmShutdownResult of(SiteHosts agents, ResourceOwner owner) throws IOException {
        Pattern gone = Pattern.compile(REMOVED.formatted(owner.uuid()));
        Poll.until(
                "the end of VM " + owner.uuid(),
                SiteHosts.LIMIT,
                "read agent-host's log",
                () -> gone.matcher(agents.logs()).find());
        String log = agents.logs();
        Matcher end = gone.matcher(log);
        assertThat(end.find()).isTrue();
        VmShutdownResult found = new VmShutdownResult(
                Duration.ofMillis(Long.parseLong(end.group(1))),
                log.lines()
                        .anyMatch(line -> line.contains("reconciled: DestroyDomain[") && line.contains(owner.uuid())));
        System.out.println("VM of " + owner.names().domain() + ": " + found);
        return found;
    }

    /** By itself, in the time that it has. */
    void assertOrderly() {
        assertThat(cutOff).as("cut off").isFalse();
        assertThat(took).isLessThan(AgentHostFiles.ORDERLY);
    }
}
