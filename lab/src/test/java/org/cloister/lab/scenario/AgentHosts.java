package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.host.vm.VmOwner;
import org.cloister.lab.Host;
import org.cloister.lab.Lab;
import org.cloister.lab.Poll;
import org.cloister.lab.relay.Program;
import org.cloister.lab.relay.RelaySite;
import org.cloister.protocol.ticket.ResourceRequest;

/**
 * agent-host on the lab's hosts, before the real relay, Slurm with its cgroups, libvirt, QEMU and Open vSwitch. The guest boots
 * and nobody in it speaks.
 */
final class AgentHosts implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(90);
    static final int SCRATCH_MIB = 64;

    private static final int MEMORY_MIB = 1500;
    private static final String RELAY = "192.168.140.1:7443";
    private static final String SITE_END = "TCP-LISTEN:7443";

    final Lab lab;
    final TicketStage stage;
    final Path agentctl;
    private final List<AgentHostProcess> agents = new ArrayList<>();
    private final List<Program> wires = new ArrayList<>();

    /**
     * They take work when it returns.
     *
     * @param folder the test's own
     * @param drives of controlling VMs, which all hosts see
     */
    AgentHosts(Lab lab, Path folder, Optional<Path> drives) throws IOException, GeneralSecurityException {
        this.lab = lab;
        lab.confine();
        Path shared = lab.slurm().programs().folder();
        agentctl = AgentHostProcess.agentctl(shared, lab.host(1));
        stage = new TicketStage(lab, folder, List.of(RelaySite.HOST), Optional.of(agentctl + " host run"));
        boolean ready = false;
        try {
            start(folder, shared.resolve("wire"), drives);
            ready = true;
        } finally {
            if (!ready) {
                close();
            }
        }
    }

    /** The relay is outside of the lab: its address there leads to it through a socket, which a stage before may have left. */
    private void start(Path folder, Path wire, Optional<Path> drives) throws IOException {
        wires.add(Program.start(
                "wire-relay",
                folder,
                List.of("socat", "UNIX-LISTEN:" + wire + ",fork,unlink-early", "TCP:127.0.0.1:" + stage.port())));
        wires.add(Program.start(
                "wire-site",
                folder,
                lab.onSite("socat", SITE_END + ",fork,reuseaddr", "UNIX-CONNECT:" + wire)
                        .argv()));
        for (Host host : lab.hosts()) {
            agents.add(AgentHostProcess.start(host, stage.site, RELAY, agentctl, drives));
        }
        for (AgentHostProcess agent : agents) {
            agent.awaitReady();
        }
    }

    @Override
    public void close() throws IOException {
        stage.close();
        lab.slurm().client("scancel", "--user=root");
        stage.awaitIdle();
        for (AgentHostProcess agent : agents) {
            agent.close();
        }
        // It has a process for each link, and none of them ends with what started it from outside.
        lab.onSite("pkill", "-f", SITE_END).run();
        for (Program wire : wires) {
            wire.close();
        }
    }

    void awaitNothing() throws IOException {
        for (Host host : lab.hosts()) {
            Poll.until(
                    "nothing of a VM on " + host.name(),
                    LIMIT,
                    "read agent-host's log",
                    () -> new HostEyes(host).all().isEmpty());
            assertThat(new HostEyes(host).bridgeDifferences()).isEmpty();
        }
        stage.awaitIdle();
    }

    int count() {
        return agents.size();
    }

    AgentHostProcess agent(int number) {
        return agents.get(number);
    }

    /** One worker on each of so many nodes. */
    String order(int nodes) throws GeneralSecurityException {
        return order(nodes, SCRATCH_MIB);
    }

    String order(int nodes, int scratchMib) throws GeneralSecurityException {
        return stage.vm.order(new ResourceRequest(
                nodes, OptionalInt.of(nodes), 1, OptionalInt.of(1), MEMORY_MIB, scratchMib, false, 10, List.of()));
    }

    List<JsonNode> vms(int agent) throws IOException {
        List<JsonNode> vms = new ArrayList<>();
        agents.get(agent).answer("vms").path("vms").forEach(vms::add);
        return vms;
    }

    /**
     * @param ticket or an opening
     * @return the number of the agent whose host it runs on, from 0
     */
    int awaitRunning(String ticket) throws IOException {
        int[] found = {-1};
        Poll.until("a VM of ticket " + ticket, LIMIT, "read agent-host's logs", () -> {
            for (int i = 0; i < agents.size(); i++) {
                if (vms(i).stream()
                        .anyMatch(vm -> vm.path("ticket").asText().equals(ticket)
                                && vm.path("state").asText().equals("running"))) {
                    found[0] = i;
                }
            }
            return found[0] >= 0;
        });
        return found[0];
    }

    static VmOwner owner(JsonNode vm) {
        return new VmOwner(
                vm.path("project").asText(),
                vm.path("ticket").asText(),
                vm.path("slot").asInt(),
                vm.path("job").asLong(),
                vm.path("uuid").asText());
    }

    /** What the host signs when nothing of the VM is left. */
    void awaitPart(String ticket) throws IOException {
        Poll.until(
                "the host's part of the receipt of " + ticket,
                LIMIT,
                "read agent-host's log",
                () -> stage.vm.parts(ticket).contains(0));
    }

    /** As {@link AgentHostProcess#restartWith}, each. */
    void restartWith(String times) throws IOException {
        for (AgentHostProcess agent : agents) {
            agent.restartWith(times);
        }
    }

    /** What the agents have said, since their hosts are there. */
    String said() throws IOException {
        StringBuilder said = new StringBuilder();
        for (AgentHostProcess agent : agents) {
            said.append(Files.readString(agent.log()));
        }
        return said.toString();
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
