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

/** Injects faults into the guests of a site's VMs, as accidents and administrators of their hosts can cause them. */
public final class SiteGuests {
    /** Pause between checks of a VM's console and of its existence. */
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

    /** Kills one VM, as a power failure does. */
    public void kill(ResourceOwner vm) throws IOException {
        for (LabHost host : lab.hosts()) {
            host.command("pkill", "-KILL", "-f", "guest=" + vm.names().domain()).run();
        }
    }

    /** Kills the agent in a VM once it is attached; returns if the VM ends meanwhile. */
    public void killAgent(ResourceOwner vm) throws IOException {
        String name = vm.names().domain();
        Poll.until(
                "an agent in " + name,
                LIMIT,
                "read its console",
                () -> consoles.of(name).contains("attached to the host"));
        writeConsole(vm, "kill agent-vm", "code=killed");
    }

    /**
     * Writes a line to a VM's console, once for each line. The script {@code console} of {@code lab/guest} acts on it;
     * the action may continue after this returns.
     */
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

    /** Disconnects a VM's network for the given time, without notifying the VM or its host. */
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
