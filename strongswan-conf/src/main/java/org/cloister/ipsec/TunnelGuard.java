package org.cloister.ipsec;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.Ipv4Network;
import org.cloister.base.process.Nft;
import org.cloister.ipsec.vici.IpsecException.GuardMissing;

/**
 * Rules of nftables that let nothing but IPsec onto the project's network, in a separate table that no other rule can
 * overrule: a packet must be accepted by every table. Install the guard before the device has an address, and keep it
 * for the VM's lifetime; it works without charon.
 *
 * @param device towards the project's network, such as {@code eth0}
 * @param network the project's addresses, 8 to 30 bits, by whichever route packets to them are sent
 * @param segment maximum size to which TCP segments are clamped
 */
public record TunnelGuard(String device, Ipv4Network network, EspMode by, int segment) {
    /** Name of the table, of the family inet. */
    public static final String TABLE = "cloister_guard";

    private static final String REMEDY = "install the guard before the device has an address";

    /** A wider network would have other machines than the project's. */
    private static final int WIDEST = 8;

    /** A network of two machines. */
    private static final int NARROWEST = 30;

    private static final Pattern CLAMP =
            Pattern.compile("ip daddr ([0-9.]{7,15})/([0-9]{1,2}) tcp .* maxseg size set ([0-9]{1,5})\n");
    private static final Pattern DROP = Pattern.compile("oifname \"([^\"]{1,15})\" counter drop\n");
    private static final Pattern DEVICE = Pattern.compile("[a-zA-Z0-9][a-zA-Z0-9_.-]{0,14}");

    public TunnelGuard {
        if (!DEVICE.matcher(device).matches() || device.equals("lo") || device.equals(EspMode.DEVICE)) {
            throw new IllegalArgumentException("guard: want a device of the project's network, have " + device);
        }
        if (network.prefix() < WIDEST || network.prefix() > NARROWEST) {
            throw new IllegalArgumentException(
                    "guard: want a network of " + WIDEST + " to " + NARROWEST + " bits, have " + network);
        }
    }

    public static TunnelGuard of(String device, Ipv4Network network, TunnelMtu mtu) {
        return new TunnelGuard(device, network, mtu.by(), mtu.segment());
    }

    /** Returns the guard that is installed on this machine. */
    public static TunnelGuard read(Nft nft) throws IOException {
        String found = nft.listTable(TABLE);
        Matcher rule = CLAMP.matcher(found);
        Matcher drop = DROP.matcher(found);
        if (rule.find() && drop.find()) {
            try {
                Ipv4Network network = Ipv4Network.of(new Ipv4Address(rule.group(1)), Integer.parseInt(rule.group(2)));
                EspMode by = found.contains("\"" + EspMode.DEVICE + "\"") ? EspMode.USERSPACE : EspMode.KERNEL;
                TunnelGuard guard = new TunnelGuard(drop.group(1), network, by, Integer.parseInt(rule.group(3)));
                guard.compare(found);
                return guard;
            } catch (IllegalArgumentException e) {
                throw new GuardMissing("table inet " + TABLE, "one with " + e.getMessage(), REMEDY);
            }
        }
        throw new GuardMissing("table inet " + TABLE, found.isEmpty() ? "none" : "one without its rules", REMEDY);
    }

    /** Returns the table as {@code nft --stateless list table} prints it, so that verification is a text comparison. */
    public String render() {
        return "table inet " + TABLE + " {\n"
                + chain("output", "o", "daddr", "oifname")
                + "\n"
                + chain("input", "i", "saddr", "iifname")
                + "\n"
                + "\tchain forward {\n\t\ttype filter hook forward priority filter; policy drop;\n\t}\n"
                + "}\n";
    }

    /** Installs the rules in one transaction that replaces older ones, and reads them back. */
    public void install(Nft nft) throws IOException {
        nft.replaceTable(TABLE, render());
        verify(nft);
    }

    /** @throws GuardMissing when the kernel does not have exactly these rules */
    public void verify(Nft nft) throws IOException {
        compare(nft.listTable(TABLE));
    }

    private void compare(String found) throws GuardMissing {
        if (!found.equals(render())) {
            throw new GuardMissing(
                    "table inet " + TABLE + " for " + by + " on " + device,
                    found.isEmpty() ? "none" : "another: " + firstDifference(found),
                    REMEDY);
        }
    }

    /** Returns the chain for one direction; the two differ only in the keywords for the ends. */
    private String chain(String hook, String way, String end, String name) {
        boolean out = way.equals("o");
        String ipsec = by == EspMode.KERNEL
                ? (out ? "\t\trt ipsec exists accept\n" : "\t\tmeta ipsec exists accept\n")
                : "\t\t" + name + " \"" + EspMode.DEVICE + "\" accept\n";
        // A tunnel's packets pass here twice: in clear, recognised by their policy or device, and then as ESP.
        return "\tchain " + hook + " {\n"
                + "\t\ttype filter hook " + hook + " priority filter; policy accept;\n"
                + "\t\t" + name + " \"lo\" accept\n"
                // A packet that address translation redirected to this machine still has the name of the device that it
                // left for.
                + (out ? "\t\tip daddr 127.0.0.0/8 accept\n" : "")
                + clamp(out)
                + ipsec
                + "\t\t" + name + " \"" + device + "\" ip " + end + " " + network + " " + wire(out)
                + "\t\t" + name + " \"" + device + "\" counter drop\n"
                + "\t\tip " + end + " " + network + " counter drop\n"
                + "\t}\n";
    }

    /**
     * Accepts IKE and ESP on the device. IKE is accepted from root only, as which charon runs: no other user can send
     * in clear from its ports.
     */
    private String wire(boolean out) {
        String user = out ? "meta skuid 0 " : "";
        String ike = "udp sport { 500, 4500 } udp dport { 500, 4500 } " + user + "accept\n";
        return by == EspMode.KERNEL
                ? ike + "\t\t" + (out ? "oifname" : "iifname") + " \"" + device + "\" ip " + (out ? "daddr " : "saddr ")
                        + network + " meta l4proto esp accept\n"
                : ike;
    }

    /**
     * Clamps the segment size in both directions, so that it holds for both ends. nft 1.1 prints a mask of several
     * flags otherwise than 1.0; segments that begin a connection alone have the option.
     */
    private String clamp(boolean out) {
        return "\t\tip " + (out ? "daddr " : "saddr ") + network + " tcp flags syn tcp option maxseg size > " + segment
                + " tcp option maxseg size set " + segment + "\n";
    }

    private String firstDifference(String found) {
        String[] lines = render().split("\n", -1);
        String[] had = found.split("\n", -1);
        for (int i = 0; i < had.length; i++) {
            if (i >= lines.length || !had[i].equals(lines[i])) {
                return had[i].strip();
            }
        }
        return "fewer rules";
    }
}
