package org.cloister.luks.leak;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.cloister.luks.key.Argon2;
import org.cloister.luks.key.DriveEnvelope;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.key.RecoveryKey;
import org.cloister.luks.key.SealingKey;
import org.cloister.luks.key.SealingKeyFile;
import org.cloister.luks.secret.KnownSecrets;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;

/** A process that is handed keys, as a worker is, and then stands still to be searched. */
final class HandoverProgram {
    /** A trace that careless code would leave. */
    enum Leak {
        NOTHING,
        BYTES_ON_THE_HEAP,
        HEX_IN_A_STRING,
        NATIVE_COPY,
        /** A secret that is still open, as one in use is. */
        OPEN_SECRET
    }

    static final byte[] INFO = "cloister hand-over v1".getBytes(StandardCharsets.US_ASCII);
    static final byte[] NO_DATA = {};

    private static final int LEAKED = 5;
    private static final int PERSONAL = 20;

    /** Held, as a leak is. */
    private static final List<Object> LEAKS = new ArrayList<>();

    private HandoverProgram() {}

    /** @param arguments folder of keys, how many, how memory is kept, and what to leak */
    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        int count = Integer.parseInt(arguments[1]);
        Leak leak = Leak.valueOf(arguments[3]);
        SecretAllocator secrets = SecretAllocator.harden(SecretAllocator.Locking.REQUIRED);
        if (arguments[2].equals("mlock")) {
            secrets = KnownSecrets.withoutSecretFiles();
        }
        LibCryptoCalls crypto = LibCryptoCalls.load(secrets);
        Hpke hpke = new Hpke(crypto);
        RecoveryKey recovery = new RecoveryKey(crypto);
        for (int i = 0; i < count; i++) {
            byte[] sealed = Files.readAllBytes(folder.resolve("sealed-" + i));
            try (SecretMemory typed = secrets.readFile(folder.resolve("private-" + i), 512);
                    SealingKey key = recovery.read(typed);
                    SecretMemory opened = hpke.open(key, INFO, NO_DATA, sealed);
                    SecretMemory again = secrets.part(opened, 0, opened.length())) {
                if (i < 3) {
                    System.out.println(key + " " + opened + " " + opened.sameAs(again));
                }
                if (i == LEAKED) {
                    leak(leak, secrets, opened);
                }
            }
        }
        personal(folder, crypto, secrets);
        System.out.println("kept by " + secrets.protection() + ", live " + secrets.liveCount());
        System.out.println("ready");
        System.out.flush();
        System.in.read();
        dumpHeap(folder.resolve("heap.hprof"));
        System.out.println("dumped");
        System.out.flush();
        System.in.read();
    }

    /** An owner's device: passphrase, key file, drive envelope, recovery key. */
    private static void personal(Path folder, LibCryptoCalls crypto, SecretAllocator secrets) throws IOException {
        Hpke hpke = new Hpke(crypto);
        Argon2 argon2 = Argon2.load(crypto);
        SealingKeyFile file = SealingKeyFile.read(Files.readAllBytes(folder.resolve("key-file")));
        DriveEnvelope envelope = DriveEnvelope.read(Files.readAllBytes(folder.resolve("envelope")));
        for (int i = 0; i < PERSONAL; i++) {
            try (SecretMemory passphrase = secrets.readFile(folder.resolve("passphrase"), 64);
                    SealingKey key = file.open(crypto, argon2, passphrase);
                    SecretMemory driveKey = envelope.open(hpke, key);
                    SealingKey other = hpke.generate();
                    SecretMemory recoveryText = new RecoveryKey(crypto).print(key)) {
                DriveEnvelope.Recipient recipient =
                        new DriveEnvelope.Recipient("n" + i, DriveEnvelope.Role.OWNER, other.publicKey());
                envelope.with(hpke, recipient, driveKey);
                SealingKeyFile.seal(crypto, argon2, new Argon2.Cost(1, 1 << 13, 1), key, passphrase);
                System.out.println(driveKey + " " + recoveryText);
            }
        }
    }

    private static void leak(Leak leak, SecretAllocator secrets, SecretMemory opened) throws SecretException {
        switch (leak) {
            case NOTHING -> {}
            case BYTES_ON_THE_HEAP -> LEAKS.add(KnownSecrets.bytes(opened));
            case HEX_IN_A_STRING -> LEAKS.add(HexFormat.of().formatHex(KnownSecrets.bytes(opened)));
            case OPEN_SECRET -> LEAKS.add(secrets.part(opened, 0, opened.length()));
            case NATIVE_COPY -> {
                Pointer copy = Memory.allocateDirect(Runtime.getSystemRuntime(), opened.length());
                try (SecretMemory.Loan loan = opened.lend()) {
                    for (int i = 0; i < loan.length(); i++) {
                        copy.putByte(i, loan.pointer().getByte(i));
                    }
                }
                LEAKS.add(copy);
            }
        }
    }

    /** With all that is garbage but not collected yet. */
    private static void dumpHeap(Path file) throws IOException {
        ManagementFactory.newPlatformMXBeanProxy(
                        ManagementFactory.getPlatformMBeanServer(),
                        "com.sun.management:type=HotSpotDiagnostic",
                        HotSpotDiagnosticMXBean.class)
                .dumpHeap(file.toString(), false);
    }
}
