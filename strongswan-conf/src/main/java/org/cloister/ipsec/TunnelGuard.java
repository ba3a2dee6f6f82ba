package org.cloister.ipsec;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.ipsec.vici.IpsecException.GuardMissing;

/**
 * The rules that let nothing but IPsec onto the project's network, in nftables' words, in a table of their own that no
 * other rule can overrule: a packet must be accepted by every table. Install it before the device has an address, and
 * leave it for the VM's life; it needs no charon to work.
 *
 * @param device towards the project's network, such as {@code eth0}
 * @param network the project's addresses, wherever a route may send them
 * @param segment what TCP's segments are clamped to
 */
public record TunnelGuard(String device, TunnelNetwork network, EspMode by, int segment) {
    /** Of the family inet. */
    public static final String TABLE = "cloister_guard";

    private static final String REMEDY = "install the guard before the device has an address";

    private static final Pattern CLAMP =
            Pattern.compile("ip daddr ([0-9.]{7,15})/([0-9]{1,2}) tcp .* maxseg size set ([0-9]{1,5})\n");
    private static final Pattern DROP = Pattern.compile("oifname \"([^\"]{1,15})\" counter drop\n");
    private static final Pattern DEVICE = Pattern.compile("[a-zA-Z0-9][a-zA-Z0-9_.-]{0,14}");

    public TunnelGuard {
        if (!DEVICE.matcher(device).matches() || device.equals("lo") || device.equals(EspMode.DEVICE)) {
            throw new IllegalArgumentException("guard: want a device of the project's network, have " + device);
        }
    }

    public static TunnelGuard of(String device, TunnelNetwork network, TunnelMtu mtu) {
        return new TunnelGuard(device, network, mtu.by(), mtu.segment());
    }

    /** The guard that this machine has. */
    public static TunnelGuard read(TunnelNft nft) throws IOException {
        String found = nft.list(TABLE);
        Matcher rule = CLAMP.matcher(found);
        Matcher drop = DROP.matcher(found);
        if (rule.find() && drop.find()) {
            try {
                TunnelNetwork network =
                        new TunnelNetwork(new TunnelAddress(rule.group(1)), Integer.parseInt(rule.group(2)));
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

    /** The table as {@code nft --stateless list table} prints it, so that reading back is comparing. */
    public String render() {
        return "table inet " + TABLE + " {\n"
                + chain("output", "o", "daddr", "oifname")
                + "\n"
                + chain("input", "i", "saddr", "iifname")
                + "\n"
                + "\tchain forward {\n\t\ttype filter hook forward priority filter; policy drop;\n\t}\n"
                + "}\n";
    }

    /** Puts the rules in place, all at once and instead of older ones, and reads them back. */
    public void install(TunnelNft nft) throws IOException {
        nft.apply("table inet " + TABLE + "\ndelete table inet " + TABLE + "\n" + render());
        verify(nft);
    }

    /** @throws GuardMissing when the kernel has not exactly these rules */
    public void verify(TunnelNft nft) throws IOException {
        compare(nft.list(TABLE));
    }

    private void compare(String found) throws GuardMissing {
        if (!found.equals(render())) {
            throw new GuardMissing(
                    "table inet " + TABLE + " for " + by + " on " + device,
                    found.isEmpty() ? "none" : "another: " + firstDifference(found),
                    REMEDY);
        }
    }

    /** Sent and received are alike; only the words for the ends differ. */
    private String chain(String hook, String way, String end, String name) {
        boolean out = way.equals("o");
        String ipsec = by == EspMode.KERNEL
                ? (out ? "\t\trt ipsec exists accept\n" : "\t\tmeta ipsec exists accept\n")
                : "\t\t" + name + " \"" + EspMode.DEVICE + "\" accept\n";
        // A tunnel's packets come by here twice: clear, known by their policy or device, and then as ESP.
        return "\tchain " + hook + " {\n"
                + "\t\ttype filter hook " + hook + " priority filter; policy accept;\n"
                + "\t\t" + name + " \"lo\" accept\n"
                // What a translation of addresses turned round to this machine still has the name of the device that it
                // left for.
                + (out ? "\t\tip daddr 127.0.0.0/8 accept\n" : "")
                + clamp(out)
                + ipsec
                + "\t\t" + name + " \"" + device + "\" ip " + end + " " + network + " " + wire(out)
                + "\t\t" + name + " \"" + device + "\" counter drop\n"
                + "\t\tip " + end + " " + network + " counter drop\n"
                + "\t}\n";
    }

    /** charon is root: no other user can pass for it and send in clear to its ports. */
    private String wire(boolean out) {
        String user = out ? "meta skuid 0 " : "";
        String ike = "udp sport { 500, 4500 } udp dport { 500, 4500 } " + user + "accept\n";
        return by == EspMode.KERNEL
                ? ike + "\t\t" + (out ? "oifname" : "iifname") + " \"" + device + "\" ip " + (out ? "daddr " : "saddr ")
                        + network + " meta l4proto esp accept\n"
                : ike;
    }

    /** For both ends, since each clamps what it sends and what it gets. */
    private String clamp(boolean out) {
        return "\t\tip " + (out ? "daddr " : "saddr ") + network + " tcp flags syn / syn,rst tcp option maxseg size > "
                + segment + " tcp option maxseg size set " + segment + "\n";
    }

    private String firstDifference(String found) {
        String[] wanted = render().split("\n", -1);
        String[] had = found.split("\n", -1);
        for (int i = 0; i < had.length; i++) {
            if (i >= wanted.length || !had[i].equals(wanted[i])) {
                return had[i].strip();
            }
        }
        return "fewer rules";
    }
}
