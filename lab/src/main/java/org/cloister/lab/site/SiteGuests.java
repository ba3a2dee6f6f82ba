package org.cloister.lab.site;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Lab;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHost;
import org.cloister.lab.LabOpenVswitch;
import org.cloister.lab.Poll;

/** The guests of a site's VMs, as faults and who has their hosts treat them. */
public final class SiteGuests {
    /** Between looks at what one says on its console, and whether it is there. */
    public static final Duration AGAIN = Duration.ofSeconds(4);

    private static final Duration LIMIT = Duration.ofMinutes(10);

    private final Lab lab;
    private final SiteHosts hosts;
    private final VmConsoles consoles;

    SiteGuests(Lab lab, SiteHosts hosts, VmConsoles consoles) {
        this.lab = lab;
        this.hosts = hosts;
        this.consoles = consoles;
    }

    /** As if the power went, for one VM. */
    public void kill(ResourceOwner vm) throws IOException {
        for (LabHost host : lab.hosts()) {
            host.command("pkill", "-KILL", "-f", "guest=" + vm.names().domain()).run();
        }
    }

    /** The agent that is in a VM, once it is attached; a VM that ends meanwhile needs none. */
    public void killAgent(ResourceOwner vm) throws IOException {
        String name = vm.names().domain();
        Poll.until(
                "an agent in " + name,
                LIMIT,
                "read its console",
                () -> consoles.of(name).contains("attached to the host"));
        writeConsole(vm, "kill agent-vm", "code=killed");
    }

    /** What happens to it is over there, or goes on: {@code lab/guest}, its script {@code console}. Once for each line. */
    public void writeConsole(ResourceOwner vm, String line) throws IOException {
        writeConsole(vm, line, "heard: " + line);
    }

    private void writeConsole(ResourceOwner vm, String line, String then) throws IOException {
        String name = vm.names().domain();
        Poll.until(line + ", in " + name, LIMIT, "read its console", AGAIN, () -> {
            if (consoles.of(name).contains(then) || !hosts.owners().contains(vm)) {
                return true;
            }
            for (LabHost host : lab.hosts()) {
                if (runs(host, vm)) {
                    consoles.writeInput(host, name, "\n" + line + "\n");
                }
            }
            return false;
        });
    }

    /** As if its cable were out for so long; neither the VM nor its host is told. */
    public void unplug(ResourceOwner vm, Duration time) throws IOException {
        String tap = vm.names().tap();
        for (LabHost host : lab.hosts()) {
            if (runs(host, vm)) {
                cut(host.ovs(), tap, time);
                return;
            }
        }
        throw new LabException(tap + ": no host runs its VM", "read agent-host's logs");
    }

    private static void cut(LabOpenVswitch ovs, String tap, Duration time) throws IOException {
        ovs.port(tap, "no-receive", "no-forward");
        try {
            TimeUnit.MILLISECONDS.sleep(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted while " + tap + " was cut off", "start again", e);
        } finally {
            ovs.port(tap, "receive", "forward");
        }
    }

    private static boolean runs(LabHost host, ResourceOwner vm) throws IOException {
        return host.libvirt().running().contains(vm.names().domain());
    }
}
