// Package checks tests what is beside the program: alerts, dashboards, the Helm chart. It is a module of its own, because what it
// tests with has hundreds of dependencies, which the program's module should not know of.
package checks
