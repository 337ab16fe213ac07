package kingshard

import "gopkg.in/yaml.v3"

// What follows are the parts of Kubernetes' objects that ours may have: a field that is not here is a mistake, or is to be added
// after a look into the reference of the API.
type (
	metadata struct {
		Name        string            `yaml:"name"`
		Labels      map[string]string `yaml:"labels"`
		Annotations map[string]string `yaml:"annotations"`
	}
	selector struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
	}
	probe struct {
		HTTPGet struct {
			Path string `yaml:"path"`
			Port string `yaml:"port"`
		} `yaml:"httpGet"`
		PeriodSeconds    int `yaml:"periodSeconds"`
		TimeoutSeconds   int `yaml:"timeoutSeconds"`
		FailureThreshold int `yaml:"failureThreshold"`
	}
	container struct {
		Name            string   `yaml:"name"`
		Image           string   `yaml:"image"`
		ImagePullPolicy string   `yaml:"imagePullPolicy"`
		Args            []string `yaml:"args"`
		EnvFrom         []struct {
			SecretRef metadata `yaml:"secretRef"`
		} `yaml:"envFrom"`
		Env []struct {
			Name  string `yaml:"name"`
			Value string `yaml:"value"`
		} `yaml:"env"`
		Ports []struct {
			Name          string `yaml:"name"`
			ContainerPort int    `yaml:"containerPort"`
		} `yaml:"ports"`
		StartupProbe   probe `yaml:"startupProbe"`
		LivenessProbe  probe `yaml:"livenessProbe"`
		ReadinessProbe probe `yaml:"readinessProbe"`
		Lifecycle      struct {
			PreStop struct {
				Sleep struct {
					Seconds int `yaml:"seconds"`
				} `yaml:"sleep"`
			} `yaml:"preStop"`
		} `yaml:"lifecycle"`
		Resources struct {
			Requests map[string]string `yaml:"requests"`
			Limits   map[string]string `yaml:"limits"`
		} `yaml:"resources"`
		SecurityContext struct {
			AllowPrivilegeEscalation *bool               `yaml:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool                `yaml:"readOnlyRootFilesystem"`
			Capabilities             map[string][]string `yaml:"capabilities"`
		} `yaml:"securityContext"`
		VolumeMounts []struct {
			Name      string `yaml:"name"`
			MountPath string `yaml:"mountPath"`
			ReadOnly  bool   `yaml:"readOnly"`
		} `yaml:"volumeMounts"`
	}
	podSpec struct {
		AutomountServiceAccountToken  *bool `yaml:"automountServiceAccountToken"`
		TerminationGracePeriodSeconds int   `yaml:"terminationGracePeriodSeconds"`
		SecurityContext               struct {
			RunAsNonRoot   bool              `yaml:"runAsNonRoot"`
			RunAsUser      int               `yaml:"runAsUser"`
			RunAsGroup     int               `yaml:"runAsGroup"`
			SeccompProfile map[string]string `yaml:"seccompProfile"`
		} `yaml:"securityContext"`
		TopologySpreadConstraints []struct {
			MaxSkew           int      `yaml:"maxSkew"`
			TopologyKey       string   `yaml:"topologyKey"`
			WhenUnsatisfiable string   `yaml:"whenUnsatisfiable"`
			LabelSelector     selector `yaml:"labelSelector"`
		} `yaml:"topologySpreadConstraints"`
		ImagePullSecrets []metadata          `yaml:"imagePullSecrets"`
		NodeSelector     map[string]string   `yaml:"nodeSelector"`
		Tolerations      []map[string]string `yaml:"tolerations"`
		Affinity         map[string]any      `yaml:"affinity"`
		Containers       []container         `yaml:"containers"`
		Volumes          []struct {
			Name      string   `yaml:"name"`
			ConfigMap metadata `yaml:"configMap"`
			Secret    struct {
				SecretName string `yaml:"secretName"`
			} `yaml:"secret"`
		} `yaml:"volumes"`
	}
	peer struct {
		PodSelector       *selector `yaml:"podSelector"`
		NamespaceSelector *selector `yaml:"namespaceSelector"`
	}
	// object is any of the kinds: Spec is empty for those that have data.
	object struct {
		APIVersion string            `yaml:"apiVersion"`
		Kind       string            `yaml:"kind"`
		Metadata   metadata          `yaml:"metadata"`
		Type       string            `yaml:"type"`
		Data       map[string]string `yaml:"data"`
		StringData map[string]string `yaml:"stringData"`
		Spec       yaml.Node         `yaml:"spec"`
	}
	deployment struct {
		Replicas int `yaml:"replicas"`
		Strategy struct {
			Type          string         `yaml:"type"`
			RollingUpdate map[string]int `yaml:"rollingUpdate"`
		} `yaml:"strategy"`
		Selector selector `yaml:"selector"`
		Template struct {
			Metadata metadata `yaml:"metadata"`
			Spec     podSpec  `yaml:"spec"`
		} `yaml:"template"`
	}
	service struct {
		Type     string            `yaml:"type"`
		Selector map[string]string `yaml:"selector"`
		Ports    []struct {
			Name       string `yaml:"name"`
			Port       int    `yaml:"port"`
			TargetPort string `yaml:"targetPort"`
		} `yaml:"ports"`
	}
	disruptionBudget struct {
		MaxUnavailable int      `yaml:"maxUnavailable"`
		Selector       selector `yaml:"selector"`
	}
	networkPolicy struct {
		PodSelector selector `yaml:"podSelector"`
		PolicyTypes []string `yaml:"policyTypes"`
		Ingress     []struct {
			From  []peer              `yaml:"from"`
			Ports []map[string]string `yaml:"ports"`
		} `yaml:"ingress"`
	}
	podMonitor struct {
		JobLabel            string              `yaml:"jobLabel"`
		Selector            selector            `yaml:"selector"`
		PodMetricsEndpoints []map[string]string `yaml:"podMetricsEndpoints"`
	}
)

// kinds are those that ours may have, with what their spec is read into.
var kinds = map[string]func() any{
	"apps/v1 Deployment":                 func() any { return new(deployment) },
	"v1 Service":                         func() any { return new(service) },
	"policy/v1 PodDisruptionBudget":      func() any { return new(disruptionBudget) },
	"networking.k8s.io/v1 NetworkPolicy": func() any { return new(networkPolicy) },
	"monitoring.coreos.com/v1 PodMonitor": func() any {
		return new(podMonitor)
	},
	"v1 ConfigMap": func() any { return nil },
	"v1 Secret":    func() any { return nil },
}
