package org.cloister.vm.run;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.cloister.ipsec.Certificate;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.ticket.TicketStream;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.opening.VmAuthority;
import org.cloister.vm.tunnel.LockedKey;

/** The controlling VM's own certificate of the day, which its own authority issues. Any thread may ask. */
final class OwnCertificate {
    private final Name name;
    private final VmAuthority authority;
    private final BootKeyPairs keys;
    private volatile Day day;

    private record Day(List<byte[]> chain, Credential credential) {}

    OwnCertificate(Name name, VmAuthority authority, BootKeyPairs keys, Instant now) throws IOException {
        this.name = name;
        this.authority = authority;
        this.keys = keys;
        this.day = issue(now);
    }

    Name name() {
        return name;
    }

    /** In the place of the one before. */
    void renew(Instant now) throws IOException {
        day = issue(now);
    }

    /** For circuits. */
    Credential credential() {
        return day.credential;
    }

    /** In DER, the leaf first. */
    List<byte[]> chain() {
        return day.chain;
    }

    /** For the stream of tickets. */
    TicketStream.Speaker speaker(SigningKey key) {
        return new TicketStream.Speaker(name, day.chain, key);
    }

    /** For charon. */
    org.cloister.ipsec.Credential ike(LockedKey key) throws IOException {
        return new org.cloister.ipsec.Credential(Certificate.parse(day.chain.get(0)), key);
    }

    private Day issue(Instant now) throws IOException {
        List<byte[]> chain = authority.certify(name, keys.shown().signing(), now);
        return new Day(chain, Credential.of(keys.signing(), chain));
    }
}
