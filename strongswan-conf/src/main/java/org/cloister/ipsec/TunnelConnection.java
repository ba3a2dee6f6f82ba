package org.cloister.ipsec;

import java.time.Duration;
import java.util.List;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.vici.ViciMessage;

/**
 * Configuration of one tunnel as charon receives it, see swanctl.conf(5). Between machines whose kernel has ESP it is
 * transport mode, host to host; in user space it is tunnel mode with the same two addresses inside and outside.
 */
public record TunnelConnection(
        PinnedPeer peer,
        TunnelIdentity self,
        Ipv4Address local,
        DerCertificate certificate,
        List<DerCertificate> authorities,
        CipherProposal ike,
        CipherProposal esp,
        TunnelKeyLifetimes lifetimes,
        EspMode by) {
    /** Prefix of each connection of ours; a connection without it belongs to another program and is left unchanged. */
    public static final String PREFIX = "cloister-";

    /** Key type, minimum key size and hash of the whole chain, so that a weaker key of the same name is rejected. */
    private static final String REMOTE_AUTH = "ecdsa-384-sha384";

    public TunnelConnection {
        authorities = List.copyOf(authorities);
    }

    public String name() {
        return PREFIX + peer.name();
    }

    /** Returns whether this end initiates the tunnel. */
    public boolean initiates() {
        return switch (peer.start()) {
            case INITIATE -> true;
            case ON_DEMAND -> by == EspMode.USERSPACE && local.compareTo(peer.address()) < 0;
            case WAIT -> false;
        };
    }

    /** Returns whether the first packet at either end initiates the tunnel. */
    boolean onDemand() {
        return by == EspMode.KERNEL && peer.start() == PinnedPeer.Start.ON_DEMAND;
    }

    /** Returns whether this end closes the older of two tunnels that were set up at the same time. */
    boolean settles() {
        return initiates() || (onDemand() && local.compareTo(peer.address()) < 0);
    }

    /** Returns the message for {@code load-conn}. */
    ViciMessage message() {
        ViciMessage connection = ViciMessage.empty()
                .with("version", "2")
                .with("local_addrs", List.of(local.text()))
                .with("remote_addrs", List.of(peer.address().text()))
                .with("proposals", List.of(ike.toString()))
                .with("encap", by == EspMode.USERSPACE ? "yes" : "no")
                .with("mobike", "no")
                .with("keyingtries", "1")
                // A restarted peer's first contact replaces its earlier SA; a second tunnel beside the first may stay.
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

    /** Returns lines for people. */
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

    /** Returns the time from rekeying to the expiry of the old keys: enough for retransmissions to a peer. */
    private static Duration reserve(Duration time) {
        Duration tenth = time.dividedBy(10);
        return tenth.compareTo(CharonSettings.DEAD_AFTER) > 0 ? tenth : CharonSettings.DEAD_AFTER;
    }

    /**
     * Returns how much earlier than due keys may be renewed, so that not all tunnels renew theirs at once. charon's
     * default is the reserve, and where that is longer than the time itself charon renews nothing.
     */
    private static Duration spread(Duration time) {
        return time.dividedBy(10);
    }

    private static String seconds(Duration time) {
        return time.toSeconds() + "s";
    }
}
