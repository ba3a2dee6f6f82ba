package org.cloister.lab.site;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Lab;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;
import org.cloister.lab.host.AgentHostFiles;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.RelaySiteFiles;

/**
 * agent-host on each of the lab's hosts, with the real relay, Slurm with its cgroups, libvirt, QEMU and Open vSwitch.
 */
public final class SiteHosts implements AutoCloseable {
    public static final Duration LIMIT = Duration.ofSeconds(90);

    /**
     * Pause between two queries of agents: each query is a process with a JVM, which takes processor time from the VMs.
     */
    public static final Duration AGAIN = Duration.ofSeconds(1);

    private static final String REGISTERED = "registered";
    /** Phases of a VM whose guest has started; its agent may have registered. */
    private static final List<String> AT_WORK = List.of("running", REGISTERED);

    private static final String RELAY = "192.168.140.1:7443";
    private static final String SITE_END = "TCP-LISTEN:7443";

    private final Lab lab;
    private final List<AgentHostProcess> agents = new ArrayList<>();
    private final List<ChildProcess> wires = new ArrayList<>();

    private SiteHosts(Lab lab) {
        this.lab = lab;
    }

    /** Returns agentctl on the lab's hosts, after moving their steps into cgroups. */
    public static Path agentctl(Lab lab) throws IOException {
        lab.useCgroups();
        return AgentHostProcess.agentctl(lab.slurm().programs().folder(), lab.host(1));
    }

    /**
     * Starts the agents; they accept work when this returns.
     *
     * @param relay the relay's port on loopback
     * @param folder for logs
     * @param agentctl {@link #agentctl(Lab)}
     * @param drives of controlling VMs, which all hosts see
     * @param console whether each VM prints its journal on a serial console; {@link #console}
     */
    public static SiteHosts start(
            Lab lab, RelaySiteFiles site, int relay, Path folder, Path agentctl, Optional<Path> drives, boolean console)
            throws IOException {
        SiteHosts hosts = new SiteHosts(lab);
        boolean ready = false;
        try {
            hosts.wire(folder, relay);
            for (LabHost host : lab.hosts()) {
                hosts.agents.add(AgentHostProcess.start(host, site, RELAY, agentctl, drives, console));
            }
            hosts.awaitReady();
            ready = true;
        } finally {
            if (!ready) {
                hosts.close();
            }
        }
        return hosts;
    }

    /**
     * Connects the relay's address in the lab to the relay outside through a socket, which an earlier site may have
     * left.
     */
    private void wire(Path folder, int relay) throws IOException {
        Path wire = lab.slurm().programs().folder().resolve("wire");
        wires.add(ChildProcess.start(
                "wire-relay",
                folder,
                List.of("socat", "UNIX-LISTEN:" + wire + ",fork,unlink-early", "TCP:127.0.0.1:" + relay)));
        wires.add(ChildProcess.start(
                "wire-site",
                folder,
                lab.onSite("socat", SITE_END + ",fork,reuseaddr", "UNIX-CONNECT:" + wire)
                        .argv()));
    }

    @Override
    public void close() throws IOException {
        for (AgentHostProcess agent : agents) {
            agent.close();
        }
        // It has a process for each link, and none of them ends with the process outside that started it.
        lab.onSite("pkill", "-f", SITE_END).run();
        for (ChildProcess wire : wires) {
            wire.close();
        }
    }

    /** Waits until all accept work. */
    public void awaitReady() throws IOException {
        for (AgentHostProcess agent : agents) {
            agent.awaitReady();
        }
    }

    public int count() {
        return agents.size();
    }

    public AgentHostProcess agent(int number) {
        return agents.get(number);
    }

    public List<JsonNode> vms(int agent) throws IOException {
        List<JsonNode> vms = new ArrayList<>();
        agents.get(agent).hostAnswer("vms").path("vms").forEach(vms::add);
        return vms;
    }

    /** Returns the VMs on all hosts. */
    public List<ResourceOwner> owners() throws IOException {
        List<ResourceOwner> owners = new ArrayList<>();
        for (int agent = 0; agent < count(); agent++) {
            vms(agent).forEach(vm -> owners.add(owner(vm)));
        }
        return owners;
    }

    /**
     * @param ticket or an opening
     * @return the number of the agent whose host it runs on, from 0
     */
    public int awaitRunning(String ticket) throws IOException {
        return await(ticket, AT_WORK);
    }

    /**
     * @param ticket or an opening
     * @return the number of the agent whose host has a VM of it with an agent that registered, from 0
     */
    public int awaitRegistered(String ticket) throws IOException {
        return await(ticket, List.of(REGISTERED));
    }

    private int await(String ticket, List<String> states) throws IOException {
        int[] found = {-1};
        Poll.until(
                "a VM of ticket " + ticket + " in a state of " + states, LIMIT, "read agent-host's logs", AGAIN, () -> {
                    for (int i = 0; i < agents.size(); i++) {
                        if (vms(i).stream()
                                .anyMatch(vm -> vm.path("ticket").asText().equals(ticket)
                                        && states.contains(vm.path("state").asText()))) {
                            found[0] = i;
                        }
                    }
                    return found[0] >= 0;
                });
        return found[0];
    }

    public static ResourceOwner owner(JsonNode vm) {
        return new ResourceOwner(
                vm.path("project").asText(),
                vm.path("ticket").asText(),
                vm.path("slot").asInt(),
                vm.path("job").asLong(),
                vm.path("uuid").asText());
    }

    /** Returns the console output of a VM so far; it is deleted with the VM. */
    public String console(int agent, ResourceOwner owner) throws IOException {
        Path file = owner.names()
                .folder(AgentHostFiles.state(lab.hosts().get(agent)).resolve("vms"))
                .resolve("console.log");
        return Files.exists(file) ? Files.readString(file, StandardCharsets.ISO_8859_1) : "";
    }

    /** Waits until nothing is left of any VM, and Global Slurm's nodes are idle. */
    public void awaitNothing() throws IOException {
        for (LabHost host : lab.hosts()) {
            HostInventory inventory = new HostInventory(host);
            Poll.until(
                    "nothing of a VM on " + host.name(),
                    LIMIT,
                    "read agent-host's log",
                    () -> inventory.all().isEmpty());
            List<String> differences = inventory.bridgeDifferences();
            if (!differences.isEmpty()) {
                throw new LabException(
                        "bridge of " + host.name() + ": want nothing of a VM, have " + differences,
                        "read agent-host's log");
            }
        }
        lab.slurm().awaitIdle();
    }

    /** Kills all agents with kill -9 and starts them again; they accept work when this returns. */
    public void killAll() throws IOException {
        for (AgentHostProcess agent : agents) {
            agent.kill();
        }
        for (AgentHostProcess agent : agents) {
            agent.start();
        }
        awaitReady();
    }

    /** Restarts each agent as {@link AgentHostProcess#restartWith} does. */
    public void restartWith(String times) throws IOException {
        for (AgentHostProcess agent : agents) {
            agent.restartWith(times);
        }
    }

    /** Returns the logs of the agents since their hosts started. */
    public String logs() throws IOException {
        StringBuilder output = new StringBuilder();
        for (AgentHostProcess agent : agents) {
            output.append(Files.readString(agent.log()));
        }
        return output.toString();
    }
}
