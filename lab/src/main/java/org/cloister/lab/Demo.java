package org.cloister.lab;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import org.cloister.protocol.ImageManifest;

/** The main job as far as it exists: a secure VM on br-secure, looked at from within and without, and gone again. */
final class Demo {
    private static final LabName NAME = new LabName("demo");
    private static final int VLAN = 101;

    private final LabHome home;
    private final PrintStream out;

    Demo(LabHome home, PrintStream out) {
        this.home = home;
        this.out = out;
    }

    void run() throws IOException {
        Steps steps = new Steps(out);
        Lab.remove(home, NAME);
        Path image = home.image("lab");
        ImageManifest manifest = ImageManifest.load(image);
        steps.act("image: every file as its manifest says", () -> requireIntact(image, manifest));
        Lab lab = Lab.up(home, NAME, steps);
        try {
            show(lab.host(1), image, manifest, steps);
        } finally {
            steps.act("lab: down", () -> Lab.remove(home, NAME));
        }
        out.println("\ndemo: passed in" + Steps.seconds(steps.total()));
    }

    private void show(Host host, Path image, ImageManifest manifest, Steps steps) throws IOException {
        VmSpec spec = VmSpec.of("worker", image).withVlan(VLAN);
        Vm vm = steps.step("virtual machine: start through libvirt", () -> host.boot(spec));
        steps.act("virtual machine: boot, runner answers", vm::awaitRunner);
        String doctor = steps.step(
                "agentctl doctor --role vm, inside",
                () -> vm.run("agentctl", "doctor", "--role", "vm").out());
        String within = steps.step("agentctl image running, inside", () -> vm.succeed("agentctl", "image", "running"));
        out.println("\non the bridge of " + host.name() + ":");
        indent(host.ovs().vsctl("--columns=name,tag", "list", "port", spec.port()));
        indent(host.ovs().vsctl("--columns=external_ids", "list", "interface", spec.port()));
        out.println("agentctl doctor, inside:");
        indent(doctor);
        out.println("the image's digests, from within:");
        indent(within);
        out.println("the image's digests, from without:");
        manifest.layers().forEach(layer -> indent(layer.name() + " " + layer.rootHash()));
        indent("identity " + manifest.identity());
        requireSame(within, manifest);
        steps.act("virtual machine: destroy", vm::close);
        steps.act("nothing of it left on " + host.name(), () -> requireGone(host, spec));
    }

    private static void requireIntact(Path image, ImageManifest manifest) throws IOException {
        List<String> differences = manifest.differences(image);
        if (!differences.isEmpty()) {
            throw new LabException(
                    "guest image: " + String.join("; ", differences), "remove " + image + ", run lab/setup");
        }
    }

    private static void requireSame(String within, ImageManifest manifest) throws IOException {
        for (var layer : manifest.layers()) {
            if (!within.contains(layer.rootHash().hex())) {
                throw new LabException(
                        "layer " + layer.name() + ": the manifest says " + layer.rootHash() + ", the guest sees "
                                + within,
                        "the guest did not boot what it was given; keep the image and report this");
            }
        }
    }

    private static void requireGone(Host host, VmSpec spec) throws IOException {
        String ports = host.ovs().vsctl("list-ports", OpenVSwitch.BRIDGE);
        if (host.libvirt().running().contains(spec.name()) || ports.contains(spec.port())) {
            throw new LabException(
                    "after destroy: domains " + host.libvirt().running() + ", ports " + ports.replace('\n', ' '),
                    "read " + host.log("libvirtd"));
        }
    }

    private void indent(String text) {
        text.lines().forEach(line -> out.println("    " + line));
    }
}
