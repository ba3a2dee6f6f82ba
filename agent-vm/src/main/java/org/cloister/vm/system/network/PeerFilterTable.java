package org.cloister.vm.system.network;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.process.Nft;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.EspMode;

/**
 * The table {@code inet cloister}: permits only ESP and IKE of the plan's machines on the interface. ARP passes, since
 * it is not of this family; IPv6 is dropped.
 *
 * @param device the interface
 * @param others sorted
 */
record PeerFilterTable(String device, List<Ipv4Address> others, EspMode esp) {
    static final String NAME = "cloister";

    PeerFilterTable {
        others = List.copyOf(others);
    }

    static PeerFilterTable of(String device, NetworkPlan plan) {
        return new PeerFilterTable(device, plan.others(), plan.esp());
    }

    /** Returns the table as {@code nft --stateless list table} prints it, except for line breaks. */
    String render() {
        return "table inet " + NAME + " {\n"
                + "\tset others {\n\t\ttype ipv4_addr\n" + elements() + "\t}\n"
                + chain("output", "oifname", "daddr")
                + chain("input", "iifname", "saddr")
                + "}\n";
    }

    /** Replaces the table in one transaction, then reads it back. */
    void install(ProcessRunner programs) throws IOException {
        Nft.on(programs).replaceTable(NAME, render());
        verify(programs);
    }

    /**
     * Reads the table back.
     *
     * @throws IOException if the kernel has not exactly these rules
     */
    void verify(ProcessRunner programs) throws IOException {
        String found = Nft.on(programs).listTable(NAME);
        if (!words(found).equals(words(render()))) {
            throw new IOException("table inet " + NAME + ": it differs from the network plan of " + device
                    + "; the interface must not be used");
        }
    }

    private String elements() {
        return others.isEmpty()
                ? ""
                : "\t\telements = { "
                        + others.stream().map(Ipv4Address::toString).collect(Collectors.joining(", ")) + " }\n";
    }

    private String chain(String hook, String name, String end) {
        String wire = "\t\t" + name + " \"" + device + "\" ip " + end + " @others ";
        boolean out = hook.equals("output");
        // The kernel's ESP passes each packet twice: clear, with its policy, and encrypted.
        String esp = this.esp == EspMode.KERNEL
                ? wire + (out ? "rt" : "meta") + " ipsec exists accept\n" + wire + "meta l4proto esp accept\n"
                : "";
        return "\n\tchain " + hook + " {\n"
                + "\t\ttype filter hook " + hook + " priority filter; policy accept;\n"
                // slurmctld's answers to the filter, which carry the name of the device by which they would have left.
                + (out ? "\t\tip daddr 127.0.0.0/8 accept\n" : "")
                + esp
                + wire + "udp sport { 500, 4500 } udp dport { 500, 4500 } " + (out ? "meta skuid 0 " : "") + "accept\n"
                + "\t\t" + name + " \"" + device + "\" counter drop\n"
                + "\t}\n";
    }

    /** Normalizes white space: nft breaks long lists of addresses at places of its own choice. */
    private static String words(String table) {
        return table.replaceAll("\\s+", " ").strip();
    }
}
