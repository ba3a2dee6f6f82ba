package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.host.vm.VmOwner;
import org.cloister.lab.Host;
import org.cloister.lab.Lab;
import org.cloister.lab.Poll;
import org.cloister.lab.relay.Program;
import org.cloister.lab.relay.RelaySite;

/** agent-host on each host of a lab, before the relay and a Global Slurm with cgroups. */
final class AgentHosts implements AutoCloseable {
    static final Duration LIMIT = Duration.ofSeconds(90);
    private static final String RELAY = "192.168.140.1:7443";

    final Lab lab;
    final TicketStage stage;
    private final List<Program> wires = new ArrayList<>();
    private final List<AgentHostProcess> agents = new ArrayList<>();

    /**
     * @param folder the test's own
     * @param drives of controlling VMs, which all hosts see
     */
    AgentHosts(Lab lab, Path folder, Optional<Path> drives) throws IOException, GeneralSecurityException {
        this.lab = lab;
        lab.confine();
        Path shared = lab.slurm().programs().folder();
        Path agentctl = AgentHostProcess.agentctl(shared, lab.host(1));
        stage = new TicketStage(lab, folder, List.of(RelaySite.HOST), Optional.of(agentctl + " host run"));
        // The relay is outside of the lab: its address there leads to it through a socket.
        Path wire = shared.resolve("wire");
        wires.add(Program.start(
                "wire-relay",
                folder,
                List.of("socat", "UNIX-LISTEN:" + wire + ",fork", "TCP:127.0.0.1:" + stage.port())));
        wires.add(Program.start(
                "wire-site",
                folder,
                lab.onSite("socat", "TCP-LISTEN:7443,fork,reuseaddr", "UNIX-CONNECT:" + wire)
                        .argv()));
        for (Host host : lab.hosts()) {
            agents.add(AgentHostProcess.start(host, stage.site, RELAY, agentctl, drives));
        }
        for (AgentHostProcess agent : agents) {
            agent.awaitReady();
        }
    }

    int count() {
        return agents.size();
    }

    AgentHostProcess agent(int number) {
        return agents.get(number);
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

    @Override
    public void close() throws IOException {
        stage.close();
        lab.slurm().client("scancel", "--user=root");
        stage.awaitIdle();
        for (AgentHostProcess agent : agents) {
            agent.close();
        }
        for (Program wire : wires) {
            wire.close();
        }
    }
}
