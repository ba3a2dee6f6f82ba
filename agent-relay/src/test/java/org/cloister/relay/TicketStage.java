package org.cloister.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Link;
import org.cloister.relay.slurm.FakeSlurm;
import org.cloister.relay.slurm.Job;
import org.cloister.relay.ticket.TicketTimes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A relay with a Slurm in memory, a host, and a controlling VM on its stream: real links, streams, records and log. */
@SuppressWarnings("NullAway") // set up before each
abstract class TicketStage {
    private static final TicketTimes FAST = new TicketTimes(
            Duration.ofMinutes(10),
            Duration.ofMinutes(5),
            Duration.ofMillis(100),
            Duration.ofMillis(400),
            Duration.ofSeconds(2),
            Duration.ofHours(8));

    @TempDir
    Path state = Path.of("");

    final FakeSlurm slurm = new FakeSlurm(List.of("n1", "n2"), Set.of(), true);
    Cast cast;
    Agent host;
    Credential hostOwn;
    Credential controllerOwn;
    TicketParty vm;
    Attachment hostAttachment;
    Link hostLink;

    @BeforeEach
    void begin() throws Exception {
        cast = new Cast(state);
        cast.kill();
        cast.slurm = Optional.of(slurm);
        cast.times = FAST;
        cast.relay = cast.serve(0, RelayLimits.DEFAULT);
        hostOwn = cast.credential(Cast.HOST);
        controllerOwn = cast.credential(cast.controller);
        attach();
    }

    void attach() throws Exception {
        host = new Agent(cast, hostOwn);
        hostAttachment = host.attachment();
        hostLink = hostAttachment.link();
        vm = TicketParty.controller(hostLink, cast.controller, controllerOwn);
    }

    @AfterEach
    void end() {
        host.close();
        cast.close();
    }

    void restart() throws Exception {
        host.close();
        cast.kill();
        cast.relay = cast.serve(0, RelayLimits.DEFAULT);
        attach();
    }

    long job(String ticket) throws IOException {
        List<Job> jobs =
                slurm.jobs().stream().filter(job -> job.ticket().equals(ticket)).toList();
        assertThat(jobs).hasSize(1);
        return jobs.get(0).id();
    }

    static void await(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.call()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.sleep(20);
        }
    }

    Identity relay() throws Exception {
        return Chain.of(cast.relayOwn().chain()).verifyUnlisted(Set.of(Role.RELAY), cast.site.anchors(), Instant.now());
    }
}
