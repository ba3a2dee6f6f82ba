package org.cloister.lab.scenario;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.lab.Lab;
import org.cloister.lab.Poll;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.lab.site.SiteHosts;
import org.cloister.protocol.ticket.ResourceRequest;

/** agent-host on the lab's hosts behind a {@link RelayTicketFixture}. The guest boots and nobody in it speaks. */
final class AgentHosts implements AutoCloseable {
    static final int SCRATCH_MIB = 64;

    private static final int MEMORY_MIB = 1500;

    final Lab lab;
    final RelayTicketFixture stage;
    final Path agentctl;
    final SiteHosts all;

    /**
     * They take work when it returns.
     *
     * @param folder the test's own
     * @param drives of controlling VMs, which all hosts see
     */
    AgentHosts(Lab lab, Path folder, Optional<Path> drives) throws IOException, GeneralSecurityException {
        this.lab = lab;
        this.agentctl = SiteHosts.agentctl(lab);
        this.stage =
                new RelayTicketFixture(lab, folder, List.of(RelaySiteFiles.HOST), Optional.of(agentctl + " host run"));
        boolean ready = false;
        try {
            this.all = SiteHosts.start(lab, stage.site, stage.port(), folder, agentctl, drives, false);
            ready = true;
        } finally {
            if (!ready) {
                stage.close();
            }
        }
    }

    @Override
    public void close() throws IOException {
        stage.close();
        lab.slurm().client("scancel", "--user=root");
        lab.slurm().awaitIdle();
        all.close();
    }

    /** One worker on each of so many nodes. */
    String order(int nodes) throws GeneralSecurityException {
        return order(nodes, SCRATCH_MIB);
    }

    String order(int nodes, int scratchMib) throws GeneralSecurityException {
        return stage.vm.order(new ResourceRequest(
                nodes, OptionalInt.of(nodes), 1, OptionalInt.of(1), MEMORY_MIB, scratchMib, false, 10, List.of()));
    }

    /** What the host signs when nothing of the VM is left. */
    void awaitPart(String ticket) throws IOException {
        Poll.until(
                "the host's part of the receipt of " + ticket,
                SiteHosts.LIMIT,
                "read agent-host's log",
                () -> stage.vm.parts(ticket).contains(0));
    }

    /** Reasons of drained nodes, as Slurm tells everybody. */
    String reasons() throws IOException {
        return lab.slurm().client("sinfo", "-h", "-R", "-o", "%E");
    }

    /** As an administrator who has seen to it. */
    void resumeNodes() throws IOException {
        String drained = lab.slurm().client("sinfo", "-h", "-R", "-o", "%N").strip();
        if (!drained.isEmpty()) {
            lab.slurm().client("scontrol", "update", "nodename=" + drained, "state=resume");
        }
    }
}
