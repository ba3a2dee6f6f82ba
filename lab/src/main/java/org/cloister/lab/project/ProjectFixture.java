package org.cloister.lab.project;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.lab.site.HostInventory;
import org.cloister.lab.site.SiteGuests;
import org.cloister.lab.site.SiteHosts;
import org.cloister.lab.site.VmConsoles;
import org.cloister.lab.site.WorkingSite;
import org.cloister.lab.wire.FrameSocket;
import org.cloister.lab.wire.Wiretap;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.vm.controller.slurm.LocalSlurm;

/**
 * A project with two owners who open its controlling VM, and a member who is also an exporter: served by the real
 * relay, on the lab's real hosts, with guests that have a running agent.
 */
public final class ProjectFixture implements AutoCloseable {
    public static final String DRIVE = "main";
    public static final String LOGIN = "ada";

    private static final int DRIVE_MIB = 768;
    private static final int MEMORY_MIB = 1500;

    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int WORDS = 12;
    /** Last line of the script {@code console} of {@code lab/guest}, which inspects a running controlling VM. */
    private static final String LOOKED = "look: over";

    private static final String SETTINGS = """
            [memory]
            qemu-mib = 448
            [[shape]]
            hosts = 2
            cpus = 2
            memory-mib = 1200
            scratch-mib = 64
            """;

    private static final String MEMBERS = """
            [[member]]
            login = "%s"
            uid = 2001
            gid = 2001
            person = "p1"
            [[member]]
            login = "bob"
            uid = 2002
            gid = 2002
            person = "p2"
            """.formatted(LOGIN);

    public final OpenerDevice first;
    public final OpenerDevice second;
    public final MemberDevice member;
    /** Another member, who is not an exporter. */
    public final MemberDevice bob;

    private final WorkingSite site;
    private final RelaySiteFiles siteFiles;
    private final Path policy;
    private final Path settings;
    private final Path members;

    /** A VM that runs for an opening, the wiretap of its cable, and the result of agentctl. */
    public record OpenedVm(ResourceOwner owner, int agent, Wiretap wire, CompletableFuture<LabCommand.Output> answer)
            implements AutoCloseable {
        @Override
        public void close() {
            wire.close();
        }
    }

    private ProjectFixture(WorkingSite site, RelaySiteFiles siteFiles, Path folder)
            throws IOException, GeneralSecurityException {
        this.site = site;
        this.siteFiles = siteFiles;
        siteFiles.enrol("p2");
        int relay = site.port();
        var owners = siteFiles.owners();
        this.first = new OpenerDevice(siteFiles, relay, folder.resolve("first"), "p1", owners.get(0));
        this.second = new OpenerDevice(siteFiles, relay, folder.resolve("second"), "p2", owners.get(1));
        this.settings = Files.writeString(folder.resolve("controller.toml"), SETTINGS);
        this.members = Files.writeString(folder.resolve("members.toml"), MEMBERS);
        this.policy = OpenerDevice.policy(siteFiles, RelaySiteFiles.NODES, 1, folder.resolve("policy"));
        List<CertificateRole> roles = List.of(CertificateRole.DEVICE, CertificateRole.MEMBER, CertificateRole.EXPORTER);
        this.member =
                new MemberDevice(new PersonDevice(siteFiles, relay, folder.resolve("member"), "p1", roles), policy);
        this.bob = new MemberDevice(
                new PersonDevice(siteFiles, relay, folder.resolve("bob"), "p2", roles.subList(0, 2)), policy);
    }

    /**
     * Returns the project that the site serves from its start; {@link #close} closes the site, too.
     *
     * @param folder of its people's devices
     */
    public static ProjectFixture first(WorkingSite site, Path folder) throws IOException {
        return of(site, site.parties(), folder);
    }

    /**
     * Creates another project at the same site, with its own owners and members, who have the same names. Only its VM
     * has to be closed.
     */
    public ProjectFixture beside(Path folder) throws IOException {
        return of(site, siteFiles.beside(folder.resolve("project")), folder);
    }

    private static ProjectFixture of(WorkingSite site, RelaySiteFiles siteFiles, Path folder) throws IOException {
        try {
            return new ProjectFixture(site, siteFiles, Files.createDirectories(folder));
        } catch (GeneralSecurityException e) {
            throw new IOException("project of the lab: " + e.getMessage(), e);
        }
    }

    public WorkingSite site() {
        return site;
    }

    @Override
    public void close() throws IOException {
        site.close();
    }

    /** Opens a new drive, which the first owner creates for both owners. */
    public OpenedVm openNewDrive() throws IOException {
        return open(
                first,
                words("--make", DRIVE_MIB + "M", "--create", "--recipient", "p2=" + second.drive()),
                words("--settings", settings.toString(), "--members", members.toString()));
    }

    /** Returns the arguments that an owner adds to {@link #open} for the drive that {@link #openNewDrive} has made. */
    public String[] shared() {
        return words("--envelope", first.envelope(DRIVE).toString());
    }

    /** Returns an opener's agentctl project open, with the owners' policy. */
    public LabCommand opening(OpenerDevice device, String[]... more) throws IOException {
        return opening(device, policy, more);
    }

    private static LabCommand opening(OpenerDevice device, Path policy, String[]... more) throws IOException {
        String[] common = words("--cpus", "1", "--memory", MEMORY_MIB + "M", "--policy", policy.toString());
        String[] all = Stream.concat(Stream.of(common), Stream.of(more).flatMap(Stream::of))
                .toArray(String[]::new);
        return device.opening(DRIVE, all);
    }

    /** Opens the project; its VM runs when this returns, see {@link #awaitWork}. */
    public OpenedVm open(OpenerDevice device, String[]... more) throws IOException {
        return open(opening(device, more));
    }

    /** Opens with the owners' next policy, which names none of the site's hosts; see {@link #awaitDenied}. */
    public OpenedVm openUnnamed(OpenerDevice device, String[]... more) throws IOException {
        try {
            Path next = OpenerDevice.policy(
                    siteFiles, List.of(RelaySiteFiles.HOST), 2, policy.resolveSibling("next-policy"));
            return open(opening(device, next, more));
        } catch (GeneralSecurityException e) {
            throw new IOException("policy of the lab: " + e.getMessage(), e);
        }
    }

    private OpenedVm open(LabCommand opening) throws IOException {
        List<ResourceOwner> before = vms();
        CompletableFuture<LabCommand.Output> answer = CompletableFuture.supplyAsync(() -> {
            try {
                return opening.run();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        List<ResourceOwner> made = new ArrayList<>();
        String logs = "read the relay's and agent-host's logs";
        Poll.until("a controlling VM", SiteHosts.LIMIT, logs, SiteHosts.AGAIN, () -> {
            if (answer.isDone()) {
                throw new LabException("opened nothing: " + answer.join(), "read agentctl's words");
            }
            vms().stream().filter(vm -> !before.contains(vm)).forEach(made::add);
            return !made.isEmpty();
        });
        ResourceOwner owner = made.get(0);
        int agent = site.hosts().awaitRunning(owner.ticket());
        return new OpenedVm(owner, agent, tap(site.lab().hosts().get(agent), owner), answer);
    }

    /** Returns a wiretap of a VM that is being made, from its first frame. */
    public static Wiretap tap(LabHost host, ResourceOwner owner) throws IOException {
        String tap = owner.names().tap();
        Poll.until(
                "its cable",
                SiteHosts.LIMIT,
                "read agent-host's log",
                () -> host.command("ip", "link", "show", tap).run().exit() == 0);
        Path network = Path.of("/proc", Long.toString(host.pid()), "ns/net");
        return new Wiretap(List.of(FrameSocket.open(network, tap)));
    }

    /** Waits until the opener has its answer and the VM's journal reports that its project runs. */
    public JsonNode awaitWork(OpenedVm opened) throws IOException {
        try {
            LabCommand.Output answer = answer(opened);
            if (answer.exit() != 0) {
                throw new LabException("project open: " + answer, "read the relay's and agent-host's logs");
            }
            Poll.until("a project at work", LIMIT, "read what its journal says", SiteGuests.AGAIN, () -> {
                if (readConsole(opened).contains(LOOKED)) {
                    return true;
                }
                if (!vms().contains(opened.owner)) {
                    throw new LabException("the VM ended", "read what its journal said");
                }
                return false;
            });
            return new ObjectMapper().readTree(answer.out());
        } catch (IOException e) {
            System.out.println(site.explained());
            throw new LabException(
                    e.getMessage() + "; its console says last: "
                            + VmConsoles.last(readConsole(opened), WORDS).replaceAll("[\\r\\n]+", " | "),
                    "read all of it above",
                    e);
        }
    }

    /**
     * Waits until the opener's attempt has failed while the VM keeps waiting.
     *
     * @return the reasons of the denial
     */
    public String awaitDenied(OpenedVm opened) throws IOException {
        LabCommand.Output answer = answer(opened);
        if (answer.exit() == 0 || !vms().contains(opened.owner)) {
            throw new LabException("project open: want a VM that is denied, have " + answer, "read its policy");
        }
        return answer.err();
    }

    private static LabCommand.Output answer(OpenedVm opened) throws IOException {
        try {
            return opened.answer.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("project open: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted", "start again", e);
        }
    }

    /** Runs agentctl receipt verify with the project's genesis document and the site's certificate. */
    public LabCommand.Output verify(Path receipt) throws IOException {
        return first.agentctl(words(
                        "receipt",
                        "verify",
                        receipt.toString(),
                        "--project",
                        siteFiles.genesis().toString(),
                        "--site",
                        siteFiles.siteCertificate().toString()))
                .run();
    }

    /** Returns the output on its console. */
    public String readConsole(OpenedVm opened) {
        return site.consoles().of(opened.owner.names().domain());
    }

    /** Waits until nothing is left of any VM on any host, nor of the project at the relay. */
    public void awaitNothing() throws IOException {
        try {
            site.hosts().awaitNothing();
            awaitTickets();
        } catch (IOException | RuntimeException e) {
            System.out.println(site.explained());
            for (LabHost host : site.lab().hosts()) {
                System.out.println(host.name() + " has " + new HostInventory(host).all());
            }
            throw e;
        }
    }

    /** Waits until a closed VM is gone. */
    public void awaitGone(OpenedVm opened) throws IOException {
        Poll.until(
                "the VM's end", LIMIT, "read agent-host's log", SiteHosts.AGAIN, () -> !vms().contains(opened.owner));
    }

    /** Waits until only the controlling VM, its ticket and the placeholders of nodes are left of the project. */
    public void awaitNoWorker() throws IOException {
        Poll.until("no worker's VM", LIMIT, "read agent-host's logs", SiteHosts.AGAIN, () -> vms().size() == 1);
        awaitTickets();
        member.await(
                "no node but the block",
                LIMIT,
                "all=$(sinfo -h -N -o %N) && ! grep -q -v ^" + LocalSlurm.PLACEHOLDER_PREFIX + " <<<\"$all\"");
    }

    /** Waits until the relay has no open tickets of the project but those of the VMs that are left. */
    private void awaitTickets() throws IOException {
        String hint = "ask agentctl relay tickets";
        Poll.until("no ticket of a VM that is gone", LIMIT, hint, SiteHosts.AGAIN, () -> {
            List<String> open = new ArrayList<>();
            String socket = site.relaySocket().toString();
            for (JsonNode ticket : new ObjectMapper()
                    .readTree(first.agentctl(words("relay", "tickets", "--socket", socket, "--output", "json"))
                            .succeed())
                    .path("tickets")) {
                if (!ticket.has("end")
                        && ticket.path("project")
                                .asText()
                                .equals(siteFiles.controller().project())) {
                    open.add(ticket.path("ticket").asText());
                }
            }
            return open.equals(vms().stream().map(ResourceOwner::ticket).toList());
        });
    }

    /** Returns the name of the controlling VM, which the project's people dial. */
    public CertificateName controller() {
        return new CertificateName(
                DRIVE,
                CertificateRole.CONTROLLER.toString(),
                siteFiles.controller().project());
    }

    /** Opens a circuit to that name as a member of this project, and returns the result. */
    public String openCircuit(CertificateName whom) throws IOException {
        return new RawMemberAgent(siteFiles, site.port()).openCircuit(whom);
    }

    /** Returns the project's VMs. */
    public List<ResourceOwner> vms() throws IOException {
        return site.hosts().owners().stream()
                .filter(vm -> vm.project().equals(siteFiles.controller().project()))
                .toList();
    }

    /** Returns the VMs of one ticket. */
    public List<ResourceOwner> vms(String ticket) throws IOException {
        return vms().stream().filter(vm -> vm.ticket().equals(ticket)).toList();
    }

    /** Returns the VM of a member's job that runs on one node. */
    public ResourceOwner worker(String job) throws IOException {
        String name = "cloister-" + member.node(job);
        return vms().stream()
                .filter(vm -> vm.names().domain().equals(name))
                .findAny()
                .orElseThrow(() -> new LabException("job " + job + ": no VM " + name, "read agent-host's log"));
    }

    /** Body of a test. */
    public interface TestBody {
        void run() throws Exception;
    }

    /** Runs a test; if it fails, prints everything that may show the cause. */
    public void explained(TestBody body) throws Exception {
        try {
            body.run();
        } catch (Exception | AssertionError e) {
            System.out.println(site.explained());
            System.out.println(
                    member.ssh("squeue; sacct -X; scontrol show node").run());
            throw e;
        }
    }

    public static String[] words(String... arguments) {
        return arguments;
    }
}
