package org.cloister.ipsec;

import java.time.Duration;
import java.util.List;
import org.cloister.ipsec.vici.ViciMessage;

/**
 * One tunnel as charon is told it, see swanctl.conf(5). Between machines whose kernel has ESP it is transport mode, host to
 * host; in user space it is tunnel mode with the same two addresses inside and outside.
 */
public record TunnelConnection(
        PinnedPeer peer,
        TunnelIdentity self,
        TunnelAddress local,
        DerCertificate certificate,
        List<DerCertificate> authorities,
        CipherProposal ike,
        CipherProposal esp,
        TunnelKeyLifetimes lifetimes,
        EspMode by) {
    /** Of each connection of ours: what has it not is another's, and left alone. */
    public static final String PREFIX = "cloister-";

    /** Key type, least key size and hash of the whole chain, so that a weaker key of the same name is refused. */
    private static final String REMOTE_AUTH = "ecdsa-384-sha384";

    public TunnelConnection {
        authorities = List.copyOf(authorities);
    }

    public String name() {
        return PREFIX + peer.name();
    }

    /** Whether this end is the one that makes the tunnel. */
    public boolean initiates() {
        return switch (peer.start()) {
            case INITIATE -> true;
            case ON_DEMAND -> by == EspMode.USERSPACE && local.compareTo(peer.address()) < 0;
            case WAIT -> false;
        };
    }

    /** Whether the first packet makes the tunnel, at either end. */
    boolean onDemand() {
        return by == EspMode.KERNEL && peer.start() == PinnedPeer.Start.ON_DEMAND;
    }

    /** Whether this end is the one that ends the older of two tunnels that were made at once. */
    boolean settles() {
        return initiates() || (onDemand() && local.compareTo(peer.address()) < 0);
    }

    /** For {@code load-conn}. */
    ViciMessage message() {
        ViciMessage connection = ViciMessage.empty()
                .with("version", "2")
                .with("local_addrs", List.of(local.text()))
                .with("remote_addrs", List.of(peer.address().text()))
                .with("proposals", List.of(ike.toString()))
                .with("encap", by == EspMode.USERSPACE ? "yes" : "no")
                .with("mobike", "no")
                .with("keyingtries", "1")
                // A restarted peer's first contact replaces what it had; a second tunnel beside the first may live.
                .with("unique", "no")
                .with("send_cert", "always")
                .with("dpd_delay", seconds(CharonSettings.DPD_DELAY))
                .with("rekey_time", seconds(lifetimes.ike()))
                .with("rand_time", seconds(spread(lifetimes.ike())))
                .with("over_time", seconds(reserve(lifetimes.ike())))
                .with("reauth_time", seconds(lifetimes.authentication()))
                .with("local", localAuth())
                .with("remote", remoteAuth())
                .with("children", ViciMessage.empty().with(name(), child()));
        return ViciMessage.empty().with(name(), connection);
    }

    /** For people. */
    public List<String> listing() {
        return List.of(
                name() + ": " + self + " at " + local + " to " + peer.identity() + " at " + peer.address(),
                "  IKE " + ike + ", ESP " + esp + " by " + by + ", "
                        + (by == EspMode.KERNEL ? "transport mode" : "tunnel mode in UDP"),
                "  certificate until " + certificate.notAfter() + ", keys for "
                        + lifetimes.child().toSeconds() + " s, peer asked again every "
                        + lifetimes.authentication().toSeconds() + " s",
                "  started by "
                        + (initiates() ? "this end" : peer.start() == PinnedPeer.Start.WAIT ? "the peer" : "traffic"));
    }

    private ViciMessage localAuth() {
        return ViciMessage.empty()
                .with("auth", "pubkey")
                .with("id", "fqdn:" + self)
                .with("certs", ViciMessage.Items.ofBlobs(List.of(certificate.der())));
    }

    private ViciMessage remoteAuth() {
        return ViciMessage.empty()
                .with("auth", REMOTE_AUTH)
                .with("id", "fqdn:" + peer.identity())
                .with(
                        "cacerts",
                        ViciMessage.Items.ofBlobs(
                                authorities.stream().map(DerCertificate::der).toList()));
    }

    private ViciMessage child() {
        return ViciMessage.empty()
                .with("mode", by == EspMode.KERNEL ? "transport" : "tunnel")
                .with("esp_proposals", List.of(esp.toString()))
                .with("local_ts", List.of(local + "/32"))
                .with("remote_ts", List.of(peer.address() + "/32"))
                .with("rekey_time", seconds(lifetimes.child()))
                .with("rand_time", seconds(spread(lifetimes.child())))
                .with("life_time", seconds(lifetimes.child().plus(reserve(lifetimes.child()))))
                .with("start_action", onDemand() ? "trap" : "none")
                .with("dpd_action", "clear");
    }

    /** From the time for new keys to the end of the old ones: enough for a peer that has to be asked again. */
    private static Duration reserve(Duration time) {
        Duration tenth = time.dividedBy(10);
        return tenth.compareTo(CharonSettings.DEAD_AFTER) > 0 ? tenth : CharonSettings.DEAD_AFTER;
    }

    /**
     * By how much sooner than in time keys may be renewed, so that not all tunnels renew theirs at once. charon's own value
     * is the reserve, and where that is longer than the time itself charon renews nothing.
     */
    private static Duration spread(Duration time) {
        return time.dividedBy(10);
    }

    private static String seconds(Duration time) {
        return time.toSeconds() + "s";
    }
}
