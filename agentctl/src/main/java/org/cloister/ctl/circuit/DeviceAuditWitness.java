package org.cloister.ctl.circuit;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.util.Set;
import org.cloister.audit.AuditWitness;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.transport.tls.TlsCredential;

/**
 * Makes a person's device a witness of the relays' audit logs: stores the heads that it receives, and raises an alarm
 * when a log was changed. The person's command continues either way.
 */
record DeviceAuditWitness(Path folder, PrintWriter errors) {
    /**
     * Returns the witness of a project's device.
     *
     * @param state the folder of XDG_STATE_HOME, or its default
     */
    static DeviceAuditWitness of(Path state, String project, PrintWriter errors) {
        return new DeviceAuditWitness(state.resolve("cloister").resolve(project).resolve("audit-heads"), errors);
    }

    /**
     * Stores and countersigns a head; prints an alarm if the log was changed.
     *
     * @param own credential that countersigns; each day's key has a file of its own
     */
    void countersign(byte[] head, CertifiedIdentity relay, TlsCredential own) {
        if (head.length == 0) {
            return;
        }
        try {
            SigningKey key = SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
            Files.createDirectories(folder);
            Path file = folder.resolve(
                    relay.name().id() + "-" + key.verificationKey().id());
            if (AuditWitness.open(file, key).offer(head, Set.of(relay.key())) instanceof AuditWitness.Alarm alarm) {
                errors.println("agentctl: alarm: " + alarm.text());
            }
        } catch (IOException e) {
            errors.println("agentctl: warning: the relay's audit head is not kept: " + e.getMessage());
        }
        errors.flush();
    }
}
