package org.cloister.lab.vm;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.lab.GuestJava;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHost;
import org.cloister.lab.LabProjectKeys;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.lab.guest.LinkScript;

/** Ends of one project's network at a controlling VM and at a worker, in two guests on one host. */
public final class TunnelPair implements AutoCloseable {
    private static final Pattern NEEDED =
            Pattern.compile("lab/target/classes|/base/target/|agent-vm|luks-keyops|strongswan-conf"
                    + "|netty|jnr-|jffi|/asm|jackson|slf4j-api");
    private static final int VLAN = 182;
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final String STEPS = "/run/link.steps";
    private static final String OUTPUT = "/run/link.said";
    private static final String ANSWER = "/run/link.answer";

    private final LabVm controller;
    private final LabVm worker;

    private TunnelPair(LabVm controller, LabVm worker) {
        this.controller = controller;
        this.worker = worker;
    }

    /** @param folder for worthless keys */
    public static TunnelPair boot(LabHost host, Path image, Path folder) throws IOException {
        host.ovs().forwardWithinVlans();
        LabProjectKeys keys = LabProjectKeys.create("a");
        LabVm controller = host.boot(LabVmSpec.of("link-c", image).withVlan(VLAN));
        boolean done = false;
        try {
            LabVm worker = host.boot(LabVmSpec.of("link-w", image).withVlan(VLAN));
            TunnelPair pair = new TunnelPair(controller, worker);
            try {
                pair.start(keys, folder);
                done = true;
                return pair;
            } finally {
                if (!done) {
                    worker.close();
                }
            }
        } finally {
            if (!done) {
                controller.close();
            }
        }
    }

    private void start(LabProjectKeys keys, Path folder) throws IOException {
        for (LabVm vm : List.of(controller, worker)) {
            TunnelIdentity self = vm == controller ? LinkScript.CONTROLLER : LinkScript.WORKER;
            vm.awaitRunner();
            // The agent uses the processor while it waits for a host.
            vm.succeed("systemctl", "stop", "agent-vm.service");
            LinkScript.FOLDER.copyTo(vm, keys, List.of(self), folder);
            vm.succeed("mkfifo", "-m", "600", ANSWER);
            GuestJava.install(vm, NEEDED).start(LinkScript.class, STEPS, OUTPUT, self.id(), ANSWER);
        }
    }

    /** Sets up guard and tunnel, as agent-vm does. */
    public void tunnel() throws IOException {
        done(controller, "tunnel");
        done(worker, "tunnel");
    }

    /** Sets up the same interfaces and addresses, with neither guard nor tunnel. */
    public void plain() throws IOException {
        done(worker, "plain");
        done(controller, "plain");
    }

    /**
     * Returns the seconds that so many bytes take from the worker to its controlling VM over TCP, until all have
     * arrived.
     */
    public double send(long bytes) throws IOException {
        return Double.parseDouble(command(worker, "give " + bytes));
    }

    private static void done(LabVm vm, String step) throws IOException {
        String answer = command(vm, step);
        if (!answer.equals("done")) {
            throw new LabException(vm.name() + ": " + step + ": " + answer + tail(vm), "read its console");
        }
    }

    /** Sends a step. The pipe is read without polling: the guest has its processor for the step alone. */
    private static String command(LabVm vm, String step) throws IOException {
        LabCommand.Output answer = vm.run(
                List.of("sh", "-c", "echo \"$1\" >\"$2\"; exec cat \"$3\"", "tell", step, STEPS, ANSWER),
                new byte[0],
                LIMIT);
        if (answer.exit() != 0) {
            throw new LabException(vm.name() + ": " + step + ": exit " + answer.exit() + tail(vm), "read its console");
        }
        return answer.out().strip();
    }

    private static String tail(LabVm vm) throws IOException {
        return "\n"
                + vm.run("tail", "-n", "30", OUTPUT, "/run/charon-link/charon.log")
                        .out();
    }

    @Override
    public void close() throws IOException {
        try {
            worker.close();
        } finally {
            controller.close();
        }
    }
}
