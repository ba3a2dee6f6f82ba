package org.cloister.host.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import org.cloister.host.channel.HostChannelEnd;
import org.cloister.host.metrics.HostMetrics;
import org.cloister.host.reconcile.ResourceOwners;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.reconcile.VmTimeouts;
import org.cloister.host.resources.VmFolders;
import org.cloister.host.resources.VmPlanSamples;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.dsse.SignatureCurve;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A VM whose agent hangs, as far as the ledger and the channels of a host go; its port has no QEMU behind it. */
@Timeout(60)
@SuppressWarnings("NullAway.Init") // JUnit and start() set it
class ChannelUpdatesTest {
    private static final ResourceOwner OWNER = ResourceOwners.owner(1);
    private static final Duration LIMIT = Duration.ofMinutes(10);

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final InstantSource clock = () -> Instant.EPOCH.plusMillis(5);

    @TempDir
    private Path folder;

    private HostChannelEnd host;
    private VmLedger ledger;
    private HostMetrics metrics;
    private ChannelUpdates updates;

    @BeforeEach
    void start() throws Exception {
        host = new HostChannelEnd(
                loops,
                HostChannelEnd.key(SignatureCurve.P256),
                Files.createDirectory(folder.resolve("statements")),
                owner -> {});
        ledger = VmLedger.open(folder.resolve("ledger"));
        metrics = new HostMetrics(ledger::entries, LIMIT, clock);
        VmFolders folders = new VmFolders(Files.createDirectory(folder.resolve("vms")));
        VmPlanSamples.make(folders, VmPlanSamples.plain(OWNER), VmPlanSamples.assignment(OWNER));
        VmTimeouts times = new VmTimeouts(Duration.ofMinutes(5), LIMIT, Duration.ofSeconds(20));
        updates = new ChannelUpdates(
                ledger,
                folders,
                times,
                host.channels(),
                host.evidence(),
                new GuestShutdownNotifier(ledger, times, clock, host.channels()),
                new VmTerminator(ledger, metrics, () -> {}, owner -> {}, clock));
        ledger.claim(VmLedgerEntry.claim(OWNER, false, 1));
        record(VmStartStep.RUNNING);
    }

    @AfterEach
    void stop() throws Exception {
        host.close();
        ledger.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void record(VmStartStep last) throws Exception {
        for (VmStartStep step : VmStartStep.values()) {
            VmStartStep reached = ledger.entry(OWNER.uuid()).orElseThrow().step();
            if (step.compareTo(reached) > 0 && step.compareTo(last) <= 0) {
                ledger.recordStep(OWNER.uuid(), step);
            }
        }
    }

    private void pass(Duration later) {
        host.advance(later);
        updates.update();
    }

    @Test
    void a_registered_vm_ends_once_its_agent_had_no_session_for_the_whole_time() throws Exception {
        record(VmStartStep.REGISTERED);
        pass(Duration.ZERO);
        pass(LIMIT.minusNanos(1));
        assertThat(ledger.entry(OWNER.uuid()).flatMap(VmLedgerEntry::end)).isEmpty();
        pass(Duration.ofNanos(1));
        assertThat(ledger.entry(OWNER.uuid()).flatMap(VmLedgerEntry::end))
                .contains(new VmTermination(VmTermination.Why.UNRESPONSIVE, "", 5));
        pass(LIMIT);
        assertThat(metrics.registry().counter("cloister.host.ends.unresponsive").getCount())
                .isEqualTo(1);
    }

    @Test
    void a_vm_that_has_not_registered_is_left_to_its_own_limit() {
        pass(Duration.ZERO);
        pass(LIMIT.multipliedBy(2));
        assertThat(ledger.entry(OWNER.uuid()).flatMap(VmLedgerEntry::end)).isEmpty();
    }
}
