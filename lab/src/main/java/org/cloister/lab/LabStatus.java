package org.cloister.lab;

import java.io.IOException;
import java.io.PrintStream;

/** Status of a lab, queried from its components and not from any record. */
final class LabStatus {
    private LabStatus() {}

    static void print(LabHome home, LabName name, PrintStream out) throws IOException {
        out.println("lab " + name + "  " + home.folder(name));
        for (Sandbox sandbox : Sandbox.find(name)) {
            out.printf(
                    "  %-6s %-8s enter with: nsenter --target %d --all%n",
                    sandbox.name(), orUnknown(sandbox::suite), sandbox.pid());
        }
        Lab lab;
        try {
            lab = Lab.attach(home, name);
        } catch (LabException e) {
            out.println("  " + e.getMessage() + "; " + e.remedy());
            return;
        }
        for (LabHost host : lab.hosts()) {
            out.printf(
                    "  %s   virtual machines: %s%n",
                    host.name(), orUnknown(() -> String.join(" ", host.libvirt().running())));
            out.printf(
                    "  %s   br-secure ports: %s%n",
                    host.name(),
                    orUnknown(() -> String.join(
                            " ",
                            host.ovs()
                                    .vsctl("list-ports", LabOpenVswitch.BRIDGE)
                                    .split("\n", -1))));
        }
        out.println("  Global Slurm: "
                + orUnknown(
                        () -> lab.slurm().client("sinfo", "-h", "-o", "%N %T").strip()));
    }

    private static String orUnknown(ProgressLog.Computation<String> question) {
        try {
            String answer = question.run();
            return answer.isBlank() ? "none" : answer;
        } catch (IOException e) {
            return "no answer (" + e.getMessage() + ")";
        }
    }
}
